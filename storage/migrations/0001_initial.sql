R"sql(
-- Schema 1. Never edited after release: changes go into the next numbered file.

-- Raw bytes by content. Split into parts because SQLite limits one value to about 1 GB.
CREATE TABLE blobs (
  hash TEXT PRIMARY KEY,
  size INTEGER NOT NULL
);
CREATE TABLE blob_parts (
  blob TEXT NOT NULL REFERENCES blobs(hash) ON DELETE CASCADE,
  part INTEGER NOT NULL,
  bytes BLOB NOT NULL,
  PRIMARY KEY (blob, part)
);

-- A repro text and the storages it names: what a graph, a step or a repro can be read back from.
CREATE TABLE contents (
  hash TEXT PRIMARY KEY,
  text TEXT NOT NULL
);
CREATE TABLE content_blobs (
  content TEXT NOT NULL REFERENCES contents(hash) ON DELETE CASCADE,
  name TEXT NOT NULL,
  blob TEXT NOT NULL REFERENCES blobs(hash),
  PRIMARY KEY (content, name)
);

CREATE TABLE captures (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL,
  path TEXT NOT NULL,
  torch_version TEXT NOT NULL,
  content_hash TEXT NOT NULL,
  imported_at TEXT NOT NULL,
  UNIQUE (content_hash, path)
);
CREATE TABLE graphs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  capture INTEGER NOT NULL REFERENCES captures(id) ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,
  name TEXT NOT NULL,
  hash TEXT NOT NULL,
  nodes INTEGER NOT NULL,
  content TEXT NOT NULL REFERENCES contents(hash),
  UNIQUE (capture, ordinal)
);
CREATE INDEX graphs_by_hash ON graphs(hash);

-- Graph texts by content hash; equal graphs are one row.
CREATE TABLE snapshots (
  hash TEXT PRIMARY KEY,
  text TEXT NOT NULL,
  nodes INTEGER NOT NULL
);

CREATE TABLE runs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  graph INTEGER NOT NULL REFERENCES graphs(id) ON DELETE CASCADE,
  kind TEXT NOT NULL,
  backend TEXT NOT NULL,
  options TEXT NOT NULL,
  started_at TEXT NOT NULL,
  status TEXT NOT NULL,
  nanoseconds INTEGER NOT NULL
);
CREATE INDEX runs_by_graph ON runs(graph);
CREATE TABLE passes (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  run INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  pass TEXT NOT NULL,
  stage TEXT NOT NULL,
  hash_before TEXT NOT NULL,
  hash_after TEXT NOT NULL,
  nodes_before INTEGER NOT NULL,
  nodes_after INTEGER NOT NULL,
  nanoseconds INTEGER NOT NULL,
  changed INTEGER NOT NULL
);
CREATE INDEX passes_by_run ON passes(run);
CREATE TABLE comparisons (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  run INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  output TEXT NOT NULL,
  same INTEGER NOT NULL,
  reason TEXT NOT NULL,
  error REAL,
  rmse_res REAL,
  rmse_ref REAL,
  ratio_to_limit REAL,
  nan_count INTEGER NOT NULL,
  inf_count INTEGER NOT NULL
);
CREATE INDEX comparisons_by_run ON comparisons(run);

-- `owner` names the process that works on the reduction, so that another one does not resume it under its hands.
CREATE TABLE reductions (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  graph INTEGER NOT NULL REFERENCES graphs(id) ON DELETE CASCADE,
  oracle TEXT NOT NULL,
  status TEXT NOT NULL,
  started_at TEXT NOT NULL,
  start_nodes INTEGER NOT NULL,
  best_nodes INTEGER NOT NULL,
  tests INTEGER NOT NULL,
  fingerprint TEXT NOT NULL,
  owner TEXT NOT NULL
);
CREATE INDEX reductions_by_graph ON reductions(graph);
CREATE TABLE steps (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  reduction INTEGER NOT NULL REFERENCES reductions(id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  test INTEGER NOT NULL,
  reduction_name TEXT NOT NULL,
  graph_hash TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  nodes INTEGER NOT NULL,
  outputs INTEGER NOT NULL,
  input_bytes INTEGER NOT NULL,
  nanoseconds INTEGER NOT NULL,
  content TEXT NOT NULL REFERENCES contents(hash),
  UNIQUE (reduction, position)
);
CREATE TABLE verdicts (
  key TEXT PRIMARY KEY,
  json TEXT NOT NULL
);

CREATE TABLE repros (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  reduction INTEGER REFERENCES reductions(id) ON DELETE SET NULL,
  graph INTEGER NOT NULL REFERENCES graphs(id) ON DELETE CASCADE,
  path TEXT NOT NULL,
  hash TEXT NOT NULL,
  created_at TEXT NOT NULL,
  nodes INTEGER NOT NULL,
  content TEXT NOT NULL REFERENCES contents(hash)
);
)sql"
