"""
The harvesting platform.

Public for other packages are the names that `harvest.archive` exports, as docs/handlers.md lists them. All else is
private: any release may change it.
"""
