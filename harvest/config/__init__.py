"""Settings and registry: reading them with line numbers, and writing them back; the YAML is in `config/`."""
