# The program's own Python environment and the system's packages under it, made where they lack.
#
# Sourced by run and test, from the project's folder, by any POSIX shell. Nothing here changes the
# system unless it may: as root, or where sudo asks for no password. Otherwise the one command that
# brings all that is missing is printed before anything else is done.
#
# TUNESCOPE_VENV       where the environment is (default: .venv)
# TUNESCOPE_PYTHON     the Python to make it with (default: the first fitting one)
# TUNESCOPE_LIBRARIES  the folders with the system's libraries (default: the usual ones)

case "${TUNESCOPE_VENV:-.venv}" in
  /*) VENV="$TUNESCOPE_VENV" ;;
  *) VENV="$PWD/${TUNESCOPE_VENV:-.venv}" ;;
esac
PYTHON="$VENV/bin/python"
STAMP="$VENV/installed"   # what was installed, once it is whole
PLACE="$VENV/made-for"    # the folder and the Python that the environment was made for
BEGUN="$VENV/installing"  # an installation has begun and not ended
SIZE="some 900 MB"
PYTHONS="${TUNESCOPE_PYTHON:-python3 python3.13 python3.12 python3.11 python3.14}"

# What Qt's wheels expect of the system, seen to be enough on a bare Debian 12.
QT_PACKAGES="libegl1 libgl1 libxkbcommon0 libdbus-1-3 libfontconfig1 libglib2.0-0 libxcb-cursor0 \
libxkbcommon-x11-0 libxcb-icccm4 libxcb-keysyms1 libxcb-shape0 libxcb-xkb1 libxcb-randr0 \
libxcb-image0 libxcb-render-util0 libx11-xcb1 libwayland-client0 libwayland-cursor0 \
libwayland-egl1 fonts-dejavu-core"
QT_LIBRARIES="libEGL.so.1 libGL.so.1 libxkbcommon.so.0 libdbus-1.so.3 libfontconfig.so.1 \
libglib-2.0.so.0 libxcb-cursor.so.0 libxkbcommon-x11.so.0 libxcb-icccm.so.4 libxcb-keysyms.so.1 \
libxcb-shape.so.0 libxcb-xkb.so.1 libxcb-randr.so.0 libxcb-image.so.0 libxcb-render-util.so.0 \
libX11-xcb.so.1"
# shellcheck disable=SC2034  # test uses it
VIRTUAL_DISPLAY="xvfb xauth"

unset PYTHONDONTWRITEBYTECODE PYTHONPATH PYTHONPYCACHEPREFIX

# say LINE…, fail LINE…: to the person, on standard error.
say() { printf '%s\n' "$@" >&2; }

fail() {
  say "$@"
  exit 1
}

# as_root COMMAND…: run it as root, or fail where that needs a password.
as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    sudo -n "$@"
  else
    return 1
  fi
}

# install_packages PACKAGE…: with apt-get, if it is there and we may; what it says is shown only
# when it fails.
install_packages() {
  command -v apt-get >/dev/null && as_root true || return 1
  say "Installing with apt-get: $*"
  log="$(mktemp)"
  as_root apt-get update >"$log" 2>&1 || true # old lists may do; the next line decides
  if ! as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y --no-install-recommends "$@" >>"$log" 2>&1; then
    tail -n 20 "$log" >&2
    rm -f "$log"
    return 1
  fi
  rm -f "$log"
}

fits() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }

has_venv() { "$1" -c 'import ensurepip, venv' 2>/dev/null; }

has_pip() { "$1" -m pip --version >/dev/null 2>&1; }

version_of() { "$1" --version 2>/dev/null | sed 's/\(.*\..*\)\..*/\1/'; }

# apt_command PACKAGE…: what a person types; root needs no sudo, and may have none.
apt_command() {
  if [ "$(id -u)" -eq 0 ]; then sudo=""; else sudo="sudo "; fi
  printf '    %s\n' "${sudo}apt-get update && ${sudo}apt-get install -y $*"
}

# find_python: print the first Python that is new enough; one that can make environments first.
find_python() {
  found=""
  for name in $PYTHONS; do
    if ! command -v "$name" >/dev/null || ! fits "$name"; then continue; fi
    if has_venv "$name"; then
      printf '%s\n' "$name"
      return
    fi
    found="${found:-$name}"
  done
  [ -n "$found" ] && printf '%s\n' "$found"
}

# missing_python: the packages without which no environment can be made; fails where every Python
# is too old, for then the system's packages bring no newer one.
missing_python() {
  if [ -z "$(trouble)" ]; then return; fi
  if ! python="$(find_python)"; then
    for name in $PYTHONS; do
      if ! command -v "$name" >/dev/null; then continue; fi
      version="$(version_of "$name")"
      fail "${version:-$name} is too old: Tunescope needs Python 3.11 or newer. Name a newer one:" \
        "    TUNESCOPE_PYTHON=/usr/local/bin/python3.12 $0" \
        "or let uv (https://docs.astral.sh/uv) bring one:" \
        "    uv tool install --python 3.12 --compile-bytecode ."
    done
    echo python3 python3-venv
  elif ! has_venv "$python" && ! has_pip "$python"; then
    "$python" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])'
  fi
}

# missing_qt: the packages of the window, all of them where one of their libraries lacks. Before
# Qt itself is there this can only be told where the system's folders are known.
missing_qt() {
  [ "$(uname)" = Linux ] && command -v apt-get >/dev/null || return 0
  for library in $QT_LIBRARIES; do
    has_library "$library" || { echo "$QT_PACKAGES"; return 0; }
  done
  has_font || echo "$QT_PACKAGES"
}

has_library() {
  for folder in ${TUNESCOPE_LIBRARIES:-/lib /usr/lib /lib64 /usr/lib64 /usr/local/lib \
    /lib/*-linux-gnu* /usr/lib/*-linux-gnu*}; do
    if [ -e "$folder/$1" ]; then return 0; fi
  done
  return 1
}

has_font() {
  [ -n "$(find /usr/share/fonts /usr/local/share/fonts ~/.fonts ~/.local/share/fonts \
    -name '*.[to]tf' -print 2>/dev/null | head -n 1)" ]
}

# need_packages PACKAGE…: install them, or print the one command that does; false where it is left
# to the person.
need_packages() {
  if [ $# -eq 0 ] || install_packages "$@"; then return 0; fi
  if [ "$1" = python3 ]; then say "Tunescope needs Python 3.11 or newer, and there is none."; fi
  say "Tunescope needs packages of the system that are not here. Run" "$(apt_command "$@")" \
    "and then this command again."
  return 1
}

# trouble: why the environment in $VENV cannot be used; nothing where it can.
trouble() {
  if [ ! -e "$VENV" ]; then
    echo none
  elif [ ! -x "$PYTHON" ]; then
    echo "its Python is gone"
  elif ! fits "$PYTHON"; then
    echo "its $(version_of "$PYTHON") is too old"
  elif [ -f "$PLACE" ] && [ "$(sed -n 1p "$PLACE")" != "$VENV" ]; then
    echo "it was made for $(sed -n 1p "$PLACE")"
  elif [ -f "$PLACE" ] && [ "$(sed -n 2p "$PLACE")" != "$(version_of "$PYTHON")" ]; then
    echo "it was made for $(sed -n 2p "$PLACE"), and there is $(version_of "$PYTHON") now"
  elif ! has_pip "$PYTHON"; then
    echo "it is half made"
  fi
}

# make_environment: an environment with pip in $VENV; one that cannot be used is made anew.
make_environment() {
  why="$(trouble)"
  if [ -z "$why" ]; then return; fi
  if [ -e "$VENV" ] && [ ! -f "$VENV/pyvenv.cfg" ] && [ ! -f "$PLACE" ] &&
    [ -n "$(find "$VENV" -print 2>/dev/null | sed -n 2p)" ]; then
    fail "$VENV holds something that is no Python environment. Remove it, or name another folder:" \
      "    TUNESCOPE_VENV=FOLDER packaging/run"
  fi
  [ "$why" = none ] || say "The environment in $VENV cannot be used ($why); it is made anew."
  python="$(find_python)" ||
    fail "Tunescope needs Python 3.11 or newer, and there is none. Install it, on Debian with" \
      "$(apt_command python3 python3-venv)" \
      "and then run this command again."
  say "Making an environment in $VENV"
  if has_venv "$python"; then
    "$python" -m venv --clear "$VENV" || no_environment
  else # a system with pip but without ensurepip
    "$python" -m venv --clear --without-pip "$VENV" || no_environment
    "$python" -m pip --python "$PYTHON" install --quiet pip || no_environment
  fi
  printf '%s\n%s\n' "$VENV" "$(version_of "$PYTHON")" >"$PLACE"
}

no_environment() {
  fail "The environment in $VENV could not be made; the lines above say why." \
    "This command continues from there when it is run again."
}

# install_project EXTRA: the project and what it needs, once for every version of pyproject.toml.
# EXTRA is "" or the name of an extra. The project is linked, so that changes in it count at once.
install_project() {
  sum="$(cksum <pyproject.toml) $("$PYTHON" --version) $PWD"
  done_before="$(cat "$STAMP" 2>/dev/null)" || true
  case "$done_before" in
    "$sum [$1]" | "$sum [test]") return ;;
  esac
  say "Installing Tunescope and what it needs ($SIZE; minutes the first time, then no more)"
  interrupted=""
  if [ -f "$BEGUN" ]; then interrupted=yes; fi
  : >"$BEGUN"
  rm -f "$STAMP"
  # What is compiled while the program runs lies in the environment, not in the checkout, however
  # the program is started.
  for packages in "$VENV"/lib/python*/site-packages; do
    [ ! -d "$packages" ] || echo 'import os, sys; sys.pycache_prefix = sys.prefix + "/pycache";' \
      'os.environ.setdefault("NUMBA_CACHE_DIR", sys.prefix + "/numba")' >"$packages/caches.pth"
  done
  install_with_uv "$1" || install_with_pip "$1" ||
    fail "The installation did not succeed; the lines above say why. It needs a network connection." \
      "Run this command again: it continues from there."
  if [ -n "$interrupted" ] && ! is_whole; then
    say "An earlier installation was broken off and left parts that cannot be used; once more."
    "$PYTHON" -m pip install --disable-pip-version-check --force-reinstall --editable \
      ".${1:+[$1]}" >&2 || fail "The installation did not succeed; the lines above say why." \
      "Remove $VENV and run this command again."
  fi
  printf '%s\n' "$sum [$1]" >"$STAMP"
  rm -f "$BEGUN"
}

# install_with_uv EXTRA: false where uv lacks and cannot be had, or does not succeed; it says nothing.
# A file of all packages that stays behind would be the size of the environment once more.
install_with_uv() {
  command -v "$VENV/bin/uv" >/dev/null ||
    "$PYTHON" -m pip install --disable-pip-version-check --quiet uv >/dev/null 2>&1 || return 1
  # shellcheck disable=SC2046  # options, of which none has a blank
  "$VENV/bin/uv" pip install --no-cache --quiet --python "$PYTHON" --compile-bytecode \
    --index-strategy unsafe-best-match \
    $(uv_options) --editable ".${1:+[$1]}" >/dev/null 2>&1
}

# uv_options: what pip is told of indexes and versions, in the words of uv.
uv_options() {
  "$PYTHON" -m pip config list 2>/dev/null | tr -d "'" | while IFS== read -r name values; do
    case "${name##*.}" in
      index-url) option=--default-index ;;
      extra-index-url) option=--index ;;
      find-links) option=--find-links ;;
      constraint) option=--constraint ;;
      *) continue ;;
    esac
    for value in $values; do printf '%s %s ' "$option" "$value"; done
  done
}

install_with_pip() {
  "$PYTHON" -m pip install --disable-pip-version-check --no-compile --editable ".${1:+[$1]}" >&2 &&
    compile_packages
}

# compile_packages: on all processors and without the packages' own tests; pip takes one for all.
compile_packages() {
  "$PYTHON" -W ignore -c '
import compileall, re, sysconfig
own_tests = re.compile(r"[\\/]tests[\\/]")
compileall.compile_dir(sysconfig.get_path("purelib"), quiet=2, workers=0, rx=own_tests)' || true
}

is_whole() {
  "$PYTHON" -c 'import PySide6.QtCore, numpy, scipy.linalg, sklearn, pandas, numba, optuna' 2>/dev/null
}

# missing_libraries: the shared libraries that Qt's parts ask for and the system lacks.
missing_libraries() {
  qt="$("$PYTHON" -c 'import PySide6; print(PySide6.__path__[0])')"
  ldd "$qt"/QtWidgets.abi3.so "$qt"/Qt/plugins/platforms/libqxcb.so \
    "$qt"/Qt/plugins/platforms/libqoffscreen.so 2>/dev/null |
    sed -n 's/^[[:space:]]*\([^ ]*\) => not found.*/\1/p' | sort -u
}

# need_qt: false where libraries lack that Qt, now that it is there, asks for.
need_qt() {
  [ "$(uname)" = Linux ] || return 0
  missing="$(missing_libraries | tr '\n' ' ')"
  if [ -z "$missing" ]; then return 0; fi
  # shellcheck disable=SC2086  # a list of packages
  if install_packages $QT_PACKAGES && [ -z "$(missing_libraries)" ]; then return 0; fi
  say "The window needs libraries of the system that are not here: $missing" \
    "Install the packages that bring them, on Debian with" "$(apt_command "$QT_PACKAGES")" \
    "and then run this command again."
  return 1
}
