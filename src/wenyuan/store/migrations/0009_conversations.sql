-- What is said in sessions: every question is followed by its answer, whose row is there before the answer is.

-- The question that took the place of this one and of what followed it; such turns stay, and are marked.
ALTER TABLE turns ADD COLUMN replaced_by INTEGER;
-- As JSON: what is known of an answer besides its text, and the ids of what was attached when a question was asked.
ALTER TABLE turns ADD COLUMN answer TEXT NOT NULL DEFAULT '{}';
ALTER TABLE turns ADD COLUMN attachments TEXT NOT NULL DEFAULT '[]';
-- What a person thinks of an answer: 'up' or 'down', empty where nothing was said, and why.
ALTER TABLE turns ADD COLUMN feedback TEXT NOT NULL DEFAULT '';
ALTER TABLE turns ADD COLUMN note TEXT NOT NULL DEFAULT '';

-- Which documents an answer names, so that their words leave it when they are deleted, however old it is.
CREATE TABLE turn_documents (
  document_id TEXT NOT NULL,
  session_id TEXT NOT NULL,
  number INTEGER NOT NULL,
  is_quoted INTEGER NOT NULL,
  PRIMARY KEY (document_id, session_id, number),
  FOREIGN KEY (session_id, number) REFERENCES turns (session_id, number) ON DELETE CASCADE
);
CREATE INDEX turn_documents_by_turn ON turn_documents (session_id, number);
