"""
From a description to a committed version. The modules, in the order in which a harvest comes through them:

    look       asks for the description;              due       which of its datasets are to be harvested
    watch      asks for dumps that no date covers     mirroring which datasets the graph is the union of
    obtain     downloads and files the dumps of an announcement
    harvest    from filed dumps to an outcome;        repeat    dumps that came before
    washing    washes in a process of its own;        contexts  remote JSON-LD contexts
    verdict    whether what was washed may be used;   older_names  blank nodes named by older rules
    commit     files, loads and publishes a version;  load, counting  into the store, and counted meanwhile
    recovery   what a crash left of commits
    writing_back   the date of the last harvest, to the registry

`alone` washes a document, and `preview` looks at a provider, without an instance.
"""
