"""Self-signed certificates for local servers."""

from __future__ import annotations

import datetime
import ipaddress
import ssl
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


def server_context(directory: Path, *, address: str = "127.0.0.1") -> tuple[ssl.SSLContext, Path]:
    """Return what a server speaks TLS with, and the file of the certificate that a client has to trust."""
    file, key_file = certificate_files(directory, x509.IPAddress(ipaddress.ip_address(address)))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file, key_file)
    return context, file


def certificate_files(directory: Path, *holders: x509.GeneralName) -> tuple[Path, Path]:
    """Write a certificate for all holders and its key, and return the files."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "tests")])
    today = datetime.datetime.now(datetime.timezone.utc)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(today - datetime.timedelta(days=1))
        .not_valid_after(today + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(holders), critical=False)
        .sign(key, hashes.SHA256())
    )
    file, key_file = directory / "certificate.pem", directory / "key.pem"
    file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    key_file.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return file, key_file
