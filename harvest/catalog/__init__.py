"""What people and programs are shown of providers, datasets, runs and documents."""
