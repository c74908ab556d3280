# The program's own Python environment and the system libraries under it, made where they lack.
#
# Sourced by run and test, from the project's folder. Nothing here changes the system unless it
# may: as root, or where sudo asks for no password. Otherwise the exact command is printed.
#
# TUNESCOPE_VENV    where the environment is (default: .venv)
# TUNESCOPE_PYTHON  the Python to make it with (default: the first fitting one)

VENV="${TUNESCOPE_VENV:-.venv}"
PYTHON="$VENV/bin/python"
STAMP="$VENV/installed"

# What Qt's wheels expect of the system, seen to be enough on a bare Debian 12.
QT_LIBRARIES=(
  libegl1 libgl1 libxkbcommon0 libdbus-1-3 libfontconfig1 libglib2.0-0 libxcb-cursor0
  libxkbcommon-x11-0 libxcb-icccm4 libxcb-keysyms1 libxcb-shape0 libxcb-xkb1 libxcb-randr0
  libxcb-image0 libxcb-render-util0 libx11-xcb1 libwayland-client0
  libwayland-cursor0 libwayland-egl1 fonts-dejavu-core
)
VIRTUAL_DISPLAY=(xvfb xauth)

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
APT_UPDATED=""
install_packages() {
  command -v apt-get >/dev/null && as_root true || return 1
  say "Installing with apt-get: $*"
  local log
  log="$(mktemp)"
  if [ -z "$APT_UPDATED" ]; then
    as_root apt-get update >"$log" 2>&1 || true # old lists may do; the next line decides
    APT_UPDATED=yes
  fi
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

# find_python: print the first Python that is new enough; one that can make environments first.
find_python() {
  local name found=""
  for name in ${TUNESCOPE_PYTHON:-python3 python3.13 python3.12 python3.11 python3.14}; do
    command -v "$name" >/dev/null && fits "$name" || continue
    if has_venv "$name"; then
      printf '%s\n' "$name"
      return
    fi
    found="${found:-$name}"
  done
  [ -n "$found" ] && printf '%s\n' "$found"
}

# make_environment: an environment with pip in $VENV, whatever the system's Python lacks for it.
make_environment() {
  if [ -x "$PYTHON" ] && fits "$PYTHON" && has_pip "$PYTHON"; then return; fi
  local python package
  python="$(find_python)" || true
  if [ -z "$python" ]; then
    install_packages python3 python3-venv || true
    python="$(find_python)" ||
      fail "Tunescope needs Python 3.11 or newer, and there is none. Install it, on Debian with" \
        "    sudo apt-get install python3 python3-venv" "and then run this command again."
  fi
  if ! has_venv "$python"; then
    package="$("$python" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')"
    if ! install_packages "$package"; then
      if has_pip "$python"; then
        environment_from_pip "$python"
        return
      fi
      fail "This Python ($python) cannot make an environment for Tunescope. Run" \
        "    sudo apt-get install $package" "and then this command again."
    fi
  fi
  say "Making an environment in $VENV"
  "$python" -m venv --clear "$VENV"
}

# environment_from_pip PYTHON: for a system with pip but without ensurepip.
environment_from_pip() {
  say "Making an environment in $VENV"
  "$1" -m venv --clear --without-pip "$VENV"
  "$1" -m pip --python "$PYTHON" install --quiet pip
}

# install_project EXTRA: the project and what it needs, once for every version of pyproject.toml.
# EXTRA is "" or the name of an extra. The project is linked, so that changes in it count at once.
install_project() {
  local sum
  sum="$(cksum <pyproject.toml) $("$PYTHON" --version)"
  if [ -f "$STAMP" ] && { [ "$(cat "$STAMP")" = "$sum []" ] || [ "$(cat "$STAMP")" = "$sum [test]" ]; }; then
    if [ -z "$1" ] || [ "$(cat "$STAMP")" = "$sum [$1]" ]; then return; fi
  fi
  say "Installing Tunescope and what it needs (some 600 MB; minutes the first time, then no more)"
  rm -f "$STAMP"
  "$PYTHON" -m pip install --quiet --disable-pip-version-check --editable ".${1:+[$1]}" ||
    fail "The installation did not succeed; the lines above say why. It needs a network connection." \
      "Run this command again afterwards."
  printf '%s\n' "$sum [$1]" >"$STAMP"
}

# missing_libraries: the shared libraries that Qt's parts ask for and the system lacks.
missing_libraries() {
  local qt
  qt="$("$PYTHON" -c 'import PySide6; print(PySide6.__path__[0])')"
  ldd "$qt"/QtWidgets.abi3.so "$qt"/Qt/plugins/platforms/lib{qxcb,qoffscreen}.so 2>/dev/null |
    sed -n 's/^[[:space:]]*\([^ ]*\) => not found.*/\1/p' | sort -u
}

has_font() {
  [ -n "$(find /usr/share/fonts /usr/local/share/fonts ~/.fonts ~/.local/share/fonts \
    -name '*.[to]tf' -print -quit 2>/dev/null)" ]
}

# need_qt: Qt's system libraries; false where they lack and we may not install them.
need_qt() {
  [ "$(uname)" = Linux ] || return 0
  local missing
  missing="$(missing_libraries)"
  if [ -z "$missing" ] && has_font; then return 0; fi
  if install_packages "${QT_LIBRARIES[@]}" && [ -z "$(missing_libraries)" ]; then return 0; fi
  say "The window needs system libraries that are not here ($(echo $missing)). Run" \
    "    sudo apt-get install ${QT_LIBRARIES[*]}" "and then this command again."
  return 1
}
