"""
What flows through the platform, as frozen values without behaviour.

    Provider -> Description(Dataset...) -> Announcement -> Capture... -> Document -> Part... -> Snapshot -> Delta
    registry    discover                   pipeline        fetch         wash                               revise
"""

from harvest.model.documents import Content, Document, Part, Problem, Snapshot, Status
from harvest.model.downloads import Crawl, Download, Note
from harvest.model.harvests import (
    About,
    Announcement,
    Capture,
    Coverage,
    Dataset,
    Delta,
    Description,
    Finding,
    Hop,
    Limits,
    Outcome,
    Provider,
    Removals,
    Source,
    State,
    Validators,
)
from harvest.model.statistics import Statistics

__all__ = [
    "About",
    "Announcement",
    "Capture",
    "Content",
    "Coverage",
    "Crawl",
    "Dataset",
    "Delta",
    "Description",
    "Document",
    "Download",
    "Finding",
    "Hop",
    "Limits",
    "Note",
    "Outcome",
    "Part",
    "Problem",
    "Provider",
    "Removals",
    "Snapshot",
    "Source",
    "State",
    "Statistics",
    "Status",
    "Validators",
]
