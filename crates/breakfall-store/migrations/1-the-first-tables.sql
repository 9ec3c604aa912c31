CREATE TABLE batches (
    id BLOB PRIMARY KEY NOT NULL,
    at BIGINT NOT NULL
) WITHOUT ROWID;
CREATE INDEX batches_by_time ON batches (at);

CREATE TABLE groups (
    id INTEGER PRIMARY KEY NOT NULL,
    fingerprint TEXT NOT NULL UNIQUE,
    upstream TEXT NOT NULL,
    tool TEXT NOT NULL,
    kind TEXT NOT NULL,
    template TEXT NOT NULL,
    first_seen BIGINT NOT NULL,
    last_seen BIGINT NOT NULL,
    count BIGINT NOT NULL,
    runs BIGINT NOT NULL DEFAULT 0,
    by_model BIGINT NOT NULL DEFAULT 0,
    by_fallback BIGINT NOT NULL DEFAULT 0,
    by_nobody BIGINT NOT NULL DEFAULT 0,
    unknown BIGINT NOT NULL DEFAULT 0,
    state TEXT NOT NULL DEFAULT 'open',
    state_at BIGINT NOT NULL DEFAULT 0,
    returned BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX groups_by_last_seen ON groups (last_seen);

CREATE TABLE refs (
    reference TEXT NOT NULL,
    group_id BIGINT NOT NULL REFERENCES groups (id) ON DELETE CASCADE,
    PRIMARY KEY (reference, group_id)
) WITHOUT ROWID;
CREATE INDEX refs_by_group ON refs (group_id, reference);

CREATE TABLE group_hours (
    group_id BIGINT NOT NULL REFERENCES groups (id) ON DELETE CASCADE,
    at BIGINT NOT NULL,
    count BIGINT NOT NULL,
    PRIMARY KEY (group_id, at)
) WITHOUT ROWID;
CREATE INDEX group_hours_by_time ON group_hours (at);

CREATE TABLE group_runs (
    group_id BIGINT NOT NULL REFERENCES groups (id) ON DELETE CASCADE,
    run TEXT NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (group_id, run)
) WITHOUT ROWID;
CREATE INDEX group_runs_by_time ON group_runs (at);

CREATE TABLE records (
    id BLOB PRIMARY KEY NOT NULL,
    at BIGINT NOT NULL,
    took BIGINT NOT NULL,
    node TEXT NOT NULL,
    run TEXT,
    call TEXT NOT NULL,
    upstream TEXT NOT NULL,
    tool TEXT NOT NULL,
    ending TEXT NOT NULL,
    group_id BIGINT,
    attempts BIGINT NOT NULL,
    body TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX records_by_time ON records (at);
CREATE INDEX records_by_group ON records (group_id, at);
CREATE INDEX records_by_run ON records (run, at);

CREATE TABLE rollups (
    size TEXT NOT NULL,
    at BIGINT NOT NULL,
    upstream TEXT NOT NULL,
    tool TEXT NOT NULL,
    what TEXT NOT NULL,
    count BIGINT NOT NULL,
    PRIMARY KEY (size, at, upstream, tool, what)
) WITHOUT ROWID;

CREATE TABLE breakers (
    node TEXT NOT NULL,
    upstream TEXT NOT NULL,
    tool TEXT NOT NULL,
    state TEXT NOT NULL,
    since BIGINT NOT NULL,
    until BIGINT,
    why TEXT NOT NULL,
    opened BIGINT NOT NULL,
    PRIMARY KEY (node, upstream, tool)
) WITHOUT ROWID;
CREATE INDEX breakers_by_time ON breakers (since);

CREATE TABLE facts (
    name TEXT PRIMARY KEY NOT NULL,
    count BIGINT NOT NULL
) WITHOUT ROWID;
