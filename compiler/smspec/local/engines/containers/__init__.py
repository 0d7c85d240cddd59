"""The engines that build the image and start a container for each host: docker, podman, nerdctl, and finch.

A `ContainerEngine` runs commands of a `Client`, one of these programs; what it can do is found out once. Each host is a
`ContainerHost`. Programs of `inside` run in containers next to the hosts, as a `Sidecar`, on the Python of the job's
image, and end when smspec ends. Everything that a run starts has a label, so the next run removes what a killed one
left.

The package uses no library of an engine, and must not know what the job does.
"""
