"""The engines that build the image and start a container for each host: docker, podman, nerdctl, and finch."""
