"""The channels of a run: their data on this machine or in S3, copied, mounted, or fed to the hosts.

`channel_data` finds the source of each channel, `channel_layout` fills directories for File and FastFile mode, and
`feeder_process` is the feeder of Pipe channels, seen from smspec. What an object is, `feeder` says, which must not
import anything of smspec.
"""
