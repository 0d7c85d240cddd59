"""Read repositories of image registries: tags, manifests, and configs, through the distribution API."""
