"""
What flows through the platform, as frozen values without behaviour.

    Provider -> Description(Dataset...) -> Announcement -> Capture... -> Document -> Part... -> Snapshot -> Delta
    registry    discover                   pipeline        fetch         wash                               revise
"""

from harvest.model.documents import Content, Document, Part, Problem, Snapshot, Status
from harvest.model.harvests import (
    Announcement,
    Capture,
    Coverage,
    Dataset,
    Delta,
    Description,
    Finding,
    Limits,
    Outcome,
    Provider,
    Removals,
    Source,
    State,
    Validators,
)

__all__ = [
    "Announcement",
    "Capture",
    "Content",
    "Coverage",
    "Dataset",
    "Delta",
    "Description",
    "Document",
    "Finding",
    "Limits",
    "Outcome",
    "Part",
    "Problem",
    "Provider",
    "Removals",
    "Snapshot",
    "Source",
    "State",
    "Status",
    "Validators",
]
