"""The help as a folder of pages: whole, without a network, and nothing of a person's lost."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from app.cli import main
from app.help.help_pages import pages_by_key
from app.help.html_folder import write_help
from core.errors import UnusableError


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("help") / "pages"
    assert write_help(made) == made / "index.html"
    return made


def test_every_page_and_picture_is_there(folder):
    files = {path.name for path in folder.glob("*.html")}
    assert files == {f"{key}.html" for key in pages_by_key()} | {"index.html"}
    for file in folder.glob("*.html"):
        for picture in re.findall(r'<img src="([^"]+)" alt="[^"]+"', file.read_text("utf-8")):
            assert (folder / picture).is_file()


def test_every_link_of_every_file_leads_to_a_place_in_the_folder(folder):
    text = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.html")}
    for name, body in text.items():
        for link in re.findall(r'href="([^"]+)"', body):
            file, _, place = link.partition("#")
            assert file in text, f"{name}: {link}"
            assert not place or f'id="{place}"' in text[file], f"{name}: {link}"


def test_nothing_comes_from_elsewhere(folder):
    for path in folder.glob("*.html"):
        body = path.read_text(encoding="utf-8")
        assert not re.search(r"""(?:src|href)=["'](?:https?:)?//|@import|url\(""", body)
        assert "prefers-color-scheme: dark" in body
        assert "<script" not in body or path.name == "index.html"


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no JavaScript to run")
def test_the_script_is_sound(folder, tmp_path):
    body = (folder / "index.html").read_text(encoding="utf-8")
    script = tmp_path / "search.js"
    script.write_text(re.search(r"<script>(.*)</script>", body, flags=re.S)[1], encoding="utf-8")
    subprocess.run(["node", "--check", script], check=True)


def test_it_can_be_written_again_but_over_nothing_else(folder, tmp_path):
    write_help(folder)
    other = tmp_path / "mine"
    other.mkdir()
    (other / "index.html").write_text("my own page", encoding="utf-8")
    with pytest.raises(UnusableError, match="holds other files"):
        write_help(other)
    assert [path.name for path in other.iterdir()] == ["index.html"]
    assert (other / "index.html").read_text(encoding="utf-8") == "my own page"
    file = tmp_path / "file"
    file.write_text("", encoding="utf-8")
    with pytest.raises(UnusableError):
        write_help(file)


def test_the_command_writes_prints_and_lists(tmp_path, capsys):
    assert main(["help", "--html", str(tmp_path / "pages")]) == 0
    assert Path(capsys.readouterr().out.strip()) == tmp_path / "pages" / "index.html"
    assert main(["help"]) == 0
    listed = capsys.readouterr().out
    assert all(f"{key}: {page.title}" in listed for key, page in pages_by_key().items())
    assert main(["help", "strategy-gp"]) == 0
    assert capsys.readouterr().out == pages_by_key()["strategy-gp"].text
    assert main(["help", "strategy-pg"]) == 2
    assert "did you mean strategy-gp" in capsys.readouterr().err
