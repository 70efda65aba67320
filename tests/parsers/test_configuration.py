from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wenyuan.parsers.reading import read_file
from wenyuan.types import Block

COMPOSE = """# How it is deployed
version: "3"

services:
  # the front
  web:
    image: nginx:1.25
    ports:
      - "80:80"

    environment:
      - A=b
  db:
    image: postgres
volumes:
- name: data
  size: 10Gi
- name: logs
---
kind: Second
"""
TOML = """title = "示例"

[server]  # where
port = 8080

host = "::1"
[[rules]]
name = "一"
"""


def blocks(folder: Path, name: str, text: str) -> list[Block]:
    path = folder / name
    path.write_text(text)
    return [event for event in read_file(path, name) if isinstance(event, Block)]


def test_keys_of_yaml(tmp_path: Path) -> None:
    found = blocks(tmp_path, "compose.yml", COMPOSE)
    assert [(block.text.split("\n")[0].strip(), block.context, block.anchor.first) for block in found] == [
        ("# How it is deployed", "", 1),
        ("services:", "", 4),
        ("web:", "services", 6),
        ("environment:", "services › web", 11),
        ("db:", "services", 13),
        ("volumes:", "", 15),
        ("- name: data", "volumes", 16),
        ("- name: logs", "volumes", 18),
        ("---", "", 19),
        ("kind: Second", "", 20),
    ]


@pytest.mark.parametrize("name", ["pyproject.toml", "settings.ini"])
def test_sections_of_toml_and_ini(tmp_path: Path, name: str) -> None:
    found = blocks(tmp_path, name, TOML)
    assert [(block.text.split("\n")[0], block.context) for block in found] == [
        ('title = "示例"', ""),
        ("[server]  # where", ""),
        ('host = "::1"', "[server]"),
        ("[[rules]]", ""),
    ]


@pytest.mark.parametrize(("name", "text"), [("a.yaml", COMPOSE), ("a.toml", TOML)])
def test_blocks_are_the_lines_of_the_file(tmp_path: Path, name: str, text: str) -> None:
    lines = text.split("\n")
    for block in blocks(tmp_path, name, text):
        assert block.text == "\n".join(lines[block.anchor.first - 1 : block.anchor.last])


@given(st.text(st.sampled_from("ab:- \n#[]\"'|"), max_size=60).filter(str.strip))
def test_any_text_is_whole(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    found = blocks(tmp_path_factory.getbasetemp(), "any.yaml", text)
    assert "".join("".join(block.text.split()) for block in found) == "".join(text.split())


@pytest.mark.proves("xml", "text", "limits")
def test_entities_of_xml_are_read_and_never_resolved(tmp_path: Path) -> None:
    laughs = '<!DOCTYPE a [<!ENTITY b "haha">' + "".join(f'<!ENTITY c{n} "&c{n - 1};&c{n - 1};">' for n in range(1, 99))
    source = f'{laughs}<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&c98;&x;</a>'
    assert [block.text for block in blocks(tmp_path, "a.xml", source)] == [source]
