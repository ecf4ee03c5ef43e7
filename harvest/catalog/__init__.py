"""What people and programs are told of providers, datasets, runs and documents."""
