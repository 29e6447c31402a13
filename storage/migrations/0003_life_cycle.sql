R"sql(
-- Schema 3. Deleting with undo, and a hash of files that stay where they are. From here on the pages of a store end with
-- checksums (storage/database/checked_pages.h): an older store is copied page by page when it is brought here.
-- Never edited after release: changes go into the next numbered file.

-- What was deleted at once, and comes back at once. Rows stay until `kerf store gc` purges them.
CREATE TABLE deletions (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at TEXT NOT NULL,
  what TEXT NOT NULL
);
ALTER TABLE captures ADD COLUMN deletion INTEGER REFERENCES deletions(id);
ALTER TABLE runs ADD COLUMN deletion INTEGER REFERENCES deletions(id);
ALTER TABLE reductions ADD COLUMN deletion INTEGER REFERENCES deletions(id);
ALTER TABLE repros ADD COLUMN deletion INTEGER REFERENCES deletions(id);

-- Of a file without a blob: the hash of its bytes when it was imported; empty where an older Kerf imported it.
ALTER TABLE capture_files ADD COLUMN hash TEXT NOT NULL DEFAULT '';

-- What asks who still needs a blob or content.
CREATE INDEX content_blobs_by_blob ON content_blobs(blob);
CREATE INDEX capture_files_by_blob ON capture_files(blob);
CREATE INDEX graphs_by_content ON graphs(content);
CREATE INDEX steps_by_content ON steps(content);
CREATE INDEX repros_by_content ON repros(content);
CREATE INDEX repros_by_graph ON repros(graph);
CREATE INDEX repros_by_reduction ON repros(reduction)
)sql"
