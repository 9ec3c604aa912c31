"""The names that agents of other systems import: change the import, and the guard does the work."""
