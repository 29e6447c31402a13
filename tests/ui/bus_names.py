"""What a screen reader meets on the accessibility bus: every control of the real window has a name there.

    bus_names.py STUDIO FILE…

Starts a display, a bus and the window with each file, walks the tree as AT-SPI tells it, and ends with 1 if a control has
no name, with 77 where this machine lacks Xvfb, busctl or at-spi2-core.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

ACCESSIBLE = 'org.a11y.atspi.Accessible'
LAUNCHERS = ('/usr/libexec/at-spi-bus-launcher', '/usr/lib/at-spi2-core/at-spi-bus-launcher')
CONTROLS = {
    'push button', 'toggle button', 'check box', 'radio button', 'combo box', 'spin button', 'slider', 'text', 'entry',
    'page tab', 'menu item', 'button menu', 'table', 'tree', 'tree table', 'list', 'list box'
}
WITHOUT_PARTS = {'table', 'tree', 'tree table', 'list', 'list box', 'combo box', 'spin button'}  # rows speak their text
SHOWING = 1 << 25
LEAST_CONTROLS = 30
SKIPPED = 77


class Bus:
    """Calls methods of objects through busctl; the bus of the user, or one by its address."""

    def __init__(self, address=None):
        self.where = ['--user'] if address is None else ['--address=' + address]

    def call(self, name, path, interface, method, *arguments):
        command = ['busctl', '--json=short', *self.where, 'call', name, path, interface, method, *arguments]
        told = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
        return json.loads(told.stdout)['data']


class Tree:
    """The tree of one window: how many objects and controls, and the ways to controls without a name."""

    def __init__(self, bus):
        self.bus, self.objects, self.controls, self.nameless, self.seen = bus, 0, 0, [], set()

    def walk(self, node, way=''):
        if tuple(node) in self.seen:
            return
        self.seen.add(tuple(node))
        role = self.bus.call(*node, ACCESSIBLE, 'GetRoleName')[0]
        name = self.bus.call(*node, 'org.freedesktop.DBus.Properties', 'Get', 'ss', ACCESSIBLE, 'Name')[0]['data']
        if way and not self.bus.call(*node, ACCESSIBLE, 'GetState')[0][0] & SHOWING:
            return
        here = f'{way}/{role}:{name[:40]}'
        self.objects += 1
        if role in CONTROLS:
            self.controls += 1
            if not name.strip():
                self.nameless.append(here)
        if role not in WITHOUT_PARTS:
            for part in self.bus.call(*node, ACCESSIBLE, 'GetChildren')[0]:
                self.walk(part, here)


def applications(bus):
    return bus.call('org.a11y.atspi.Registry', '/org/a11y/atspi/accessible/root', ACCESSIBLE, 'GetChildren')[0]


def settled(bus, seconds):
    """The window's tree once it grows no more; None where it does not come to rest."""
    before = None
    for _ in range(seconds // 3):
        time.sleep(3)
        tree = Tree(bus)
        try:
            for each in applications(bus):
                tree.walk(each)
        except subprocess.CalledProcessError:  # an object went while it was asked
            continue
        if tree.objects and tree.objects == before and tree.controls >= LEAST_CONTROLS:
            return tree
        before = tree.objects
    return None


def check(bus, studio, file, folder):
    environment = dict(os.environ, QT_QPA_PLATFORM='xcb', QT_LINUX_ACCESSIBILITY_ALWAYS_ON='1', XDG_CONFIG_HOME=folder,
                       XDG_DATA_HOME=folder)
    with open(os.path.join(folder, 'studio.log'), 'w') as log:
        window = subprocess.Popen([studio, file], env=environment, stdout=log, stderr=log)
    try:
        tree = settled(bus, 120)
    finally:
        window.terminate()
        window.wait(30)
    if tree is None:
        print(f'{os.path.basename(file)}: the window did not come to rest')
        return False
    print(f'{os.path.basename(file)}: {tree.objects} objects, {tree.controls} controls, {len(tree.nameless)} without a name')
    for way in tree.nameless:
        print('  without a name:', way)
    return not tree.nameless


def main(studio, files):
    launcher = next((path for path in LAUNCHERS if os.path.exists(path)), None)
    if launcher is None or not all(shutil.which(name) for name in ('Xvfb', 'busctl', 'dbus-run-session')):
        print('this machine lacks Xvfb, busctl, dbus-run-session or at-spi2-core')
        return SKIPPED
    if 'KERF_BUS' not in os.environ:  # a bus of our own: that of the user knows other windows
        return subprocess.call(['dbus-run-session', '--', sys.executable, '-B', *sys.argv], env=dict(os.environ, KERF_BUS='1'))
    with tempfile.TemporaryDirectory() as folder:
        os.environ['XDG_RUNTIME_DIR'] = folder
        os.chmod(folder, 0o700)
        reader, writer = os.pipe()
        display = subprocess.Popen(['Xvfb', '-displayfd', str(writer), '-screen', '0', '1600x1000x24'], pass_fds=[writer],
                                   stderr=subprocess.DEVNULL)
        os.close(writer)
        os.environ['DISPLAY'] = ':' + os.read(reader, 16).decode().strip()
        spoken = subprocess.Popen([launcher, '--launch-immediately'], stderr=subprocess.DEVNULL)
        try:
            time.sleep(2)
            bus = Bus(Bus().call('org.a11y.Bus', '/org/a11y/bus', 'org.a11y.Bus', 'GetAddress')[0])
            return 0 if all([check(bus, studio, file, folder) for file in files]) else 1
        finally:
            spoken.terminate()
            display.terminate()


if __name__ == '__main__':
    sys.exit(main(sys.argv[1], sys.argv[2:]))
