"""Every test keeps its records in a file of its own."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def records_of_its_own(tmp_path, monkeypatch):
    place = tmp_path / "breakfall.db"
    monkeypatch.setenv("BREAKFALL_STORE__PLACE", str(place))
    return place
