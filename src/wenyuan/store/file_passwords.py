"""The passwords of files, in a table of their own: nothing that shows, copies out or traces documents reads it."""

from __future__ import annotations

from wenyuan.store.database import Reading, Writing


def keep(tx: Writing, document_id: str, password: str) -> None:
    tx.run(
        "INSERT INTO file_passwords (document_id, password, created_at) VALUES (:id, :password, :now) "
        "ON CONFLICT (document_id) DO UPDATE SET password = excluded.password, created_at = excluded.created_at",
        {"id": document_id, "password": password, "now": tx.now},
    )


def of(tx: Reading, document_id: str) -> str:
    """The password of a document's file, else that of the nearest file it lies in; empty where there is none."""
    at = document_id
    while at:
        row = tx.first(
            "SELECT d.parent_id, p.password FROM documents AS d LEFT JOIN file_passwords AS p ON p.document_id = d.id "
            "WHERE d.id = :id",
            {"id": at},
        )
        if row is None:
            return ""
        if row[1] is not None:
            return str(row[1])
        at = row[0]
    return ""


def count(tx: Reading) -> int:
    row = tx.first("SELECT count(*) FROM file_passwords")
    return int(row[0]) if row is not None else 0
