R"sql(
-- Schema 2. Captures of any kind: the original files, where each graph came from, and what lies beside the graphs.
-- Never edited after release: changes go into the next numbered file.

-- How a blob's parts are written: '' as they are, 'zlib' each part compressed by itself.
ALTER TABLE blobs ADD COLUMN encoding TEXT NOT NULL DEFAULT '';

-- The files that a capture was read from. `name` is the path below the folder that they are written to again. Without
-- a blob the file stays where it is (`source`) and must not have changed.
CREATE TABLE capture_files (
  capture INTEGER NOT NULL REFERENCES captures(id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  name TEXT NOT NULL,
  source TEXT NOT NULL,
  size INTEGER NOT NULL,
  modified INTEGER NOT NULL,
  blob TEXT REFERENCES blobs(hash),
  PRIMARY KEY (capture, position)
);

-- A graph that is read back from its capture's files has this empty content, nodes -1 and no hash until it is parsed.
INSERT OR IGNORE INTO contents(hash, text) VALUES ('', '');
ALTER TABLE graphs ADD COLUMN compile_id TEXT NOT NULL DEFAULT '';
ALTER TABLE graphs ADD COLUMN rank INTEGER NOT NULL DEFAULT -1;
ALTER TABLE graphs ADD COLUMN stage TEXT NOT NULL DEFAULT '';
ALTER TABLE graphs ADD COLUMN file TEXT NOT NULL DEFAULT '';
ALTER TABLE graphs ADD COLUMN line INTEGER NOT NULL DEFAULT 0;

CREATE TABLE records (
  capture INTEGER NOT NULL REFERENCES captures(id) ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  compile_id TEXT NOT NULL,
  rank INTEGER NOT NULL,
  file TEXT NOT NULL,
  line INTEGER NOT NULL,
  form TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  graph INTEGER,
  PRIMARY KEY (capture, ordinal)
);
CREATE TABLE compiles (
  capture INTEGER NOT NULL REFERENCES captures(id) ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,
  compile_id TEXT NOT NULL,
  rank INTEGER NOT NULL,
  status TEXT NOT NULL,
  failure TEXT NOT NULL,
  frame TEXT NOT NULL,
  graphs INTEGER NOT NULL,
  records INTEGER NOT NULL,
  milliseconds REAL,
  PRIMARY KEY (capture, ordinal)
)
)sql"
