"""Keys of the hosts and of the launcher: `hosts` and `distribution`."""

from __future__ import annotations

from smspec.spec import model
from smspec.spec.keys.row import ANYONE, API, AZURE, KUBERNETES, SAGIFY, SDK, SKYPILOT, Row
from smspec.spec.keys.value_forms import (
    COUNT,
    DURATION,
    NUMBER,
    PROCESSES,
    TEXT,
    VOLUME,
    WRITTEN_TEXTS,
    Choice,
    Structure,
    Structures,
)

ROWS: tuple[Row, ...] = (
    Row(
        "hosts",
        Structure(model.Hosts),
        "ResourceConfig",
        kind="hosts",
        called="hosts",
        group="hosts",
        words={SDK: "compute", SKYPILOT: "resources", KUBERNETES: "pytorchReplicaSpecs mpiReplicaSpecs tfReplicaSpecs"},
    ),
    Row(
        "hosts.instance_type",
        TEXT,
        "ResourceConfig.InstanceType",
        kind="hosts",
        called="instance type",
        words={
            SDK: "train_instance_type",
            SKYPILOT: "accelerators cpus memory any_of ordered accelerator_args",
            KUBERNETES: "requests nodeSelector tolerations affinity",
            SAGIFY: "ec2_type",
            ANYONE: "gpus machine_type",
        },
    ),
    Row(
        "hosts.count",
        COUNT,
        "ResourceConfig.InstanceCount",
        kind="hosts",
        called="count",
        words={
            SDK: "train_instance_count",
            SKYPILOT: "num_nodes",
            AZURE: "instance_count node_count",
            KUBERNETES: "replicas nodes parallelism completions elasticPolicy minReplicas maxReplicas",
            ANYONE: "instances",
        },
    ),
    Row(
        "hosts.volume",
        VOLUME,
        "ResourceConfig.VolumeSizeInGB",
        kind="hosts",
        called="volume",
        words={SDK: "volume_size train_volume_size", SKYPILOT: "disk_size disk_tier", KUBERNETES: "emptyDir"},
    ),
    Row(
        "hosts.volume_kms_key",
        TEXT,
        "ResourceConfig.VolumeKmsKeyId",
        kind="security",
        called="KMS key of the volumes",
        words={SDK: "train_kms_key train_volume_kms_key"},
    ),
    Row("hosts.keep_alive", DURATION, "ResourceConfig.KeepAlivePeriodInSeconds", kind="hosts", called="keep-alive"),
    Row(
        "hosts.training_plan",
        TEXT,
        "ResourceConfig.TrainingPlanArn",
        kind="hosts",
        called="training plan",
        words={API: "TrainingPlanArns"},
    ),
    Row(
        "hosts.groups",
        Structures(model.InstanceGroup),
        "ResourceConfig.InstanceGroups",
        kind="hosts",
        called="instance groups",
        words={KUBERNETES: "Master Worker Launcher"},
    ),
    Row("hosts.groups.*.name", TEXT, "ResourceConfig.InstanceGroups.*.InstanceGroupName", kind="hosts"),
    Row("hosts.groups.*.instance_type", TEXT, "ResourceConfig.InstanceGroups.*.InstanceType", kind="hosts"),
    Row("hosts.groups.*.count", COUNT, "ResourceConfig.InstanceGroups.*.InstanceCount", kind="hosts"),
    Row("distribution", Choice(), kind="image", words={SDK: "modelparallel smp distributed", ANYONE: "launcher"}),
    Row("distribution.torchrun", Structure(model.Torchrun), kind="hosts", words={SDK: "torch_distributed pytorchddp"}),
    Row(
        "distribution.torchrun.processes_per_host",
        PROCESSES,
        kind="hosts",
        words={
            SDK: "process_count_per_node",
            AZURE: "process_count_per_instance process_count",
            ANYONE: "nproc_per_node",
        },
    ),
    Row("distribution.torchrun.port", NUMBER, kind="hosts"),
    Row("distribution.mpi", Structure(model.Mpi), kind="image"),
    Row(
        "distribution.mpi.processes_per_host",
        PROCESSES,
        kind="hosts",
        words={
            SDK: "process_count_per_node",
            AZURE: "process_count_per_instance process_count",
            KUBERNETES: "slotsPerWorker",
        },
    ),
    Row(
        "distribution.mpi.options",
        WRITTEN_TEXTS,
        kind="hosts",
        words={SDK: "custom_mpi_options mpi_additional_options"},
    ),
    Row("distribution.parameter_server", Structure(model.ParameterServer), kind="image"),
    Row("distribution.parameter_server.framework", TEXT, kind="hosts"),
    Row(
        "distribution.smdataparallel",
        Structure(model.SmDataParallel),
        kind="image",
        words={SDK: "smdistributed dataparallel"},
    ),
)
