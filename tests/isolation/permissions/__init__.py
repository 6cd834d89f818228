"""Who gets which answer from every route: see tests/isolation/permission_table.py."""
