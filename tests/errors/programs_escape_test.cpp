// Programs that try to leave the sandbox through Python itself: frames, code objects, garbage, hooks, subclasses, /proc.
// Each prints "out" where it got something it must not have; what it gets instead is an error, or the end of the child.
#include <filesystem>

#include <gtest/gtest.h>

#include "engine/torch_api/torch_environment.h"

namespace kerf {
namespace {

struct Escape {
  const char* name;
  const char* text;
};

class Escapes : public testing::TestWithParam<Escape> {};

/// `reach(f)` prints "out" where f() comes to something.
constexpr const char* prelude =
    "def reach(f):\n"
    "    try:\n"
    "        made = f()\n"
    "    except BaseException as error:\n"
    "        print('refused', type(error).__name__)\n"
    "        return None\n"
    "    print('out', made)\n"
    "    return made\n";

TEST_P(Escapes, ReachNothing) {
  ProgramRequest request{.text = std::string(prelude) + GetParam().text, .name = "escape.py"};
  request.limits.timeout = std::chrono::seconds(10);
  request.limits.memoryBytes = 2LL << 30;
  const auto answer = runProgram(request, torchEnvironment(), encodeObject);
  if (!answer) {  // the child ended: it took nothing with it
    EXPECT_EQ(answer.error().code, ErrorCode::RuntimeFailed) << answer.error().text();
    return;
  }
  EXPECT_EQ(answer->output.find("out"), std::string::npos) << answer->output << answer->errors;
}

INSTANTIATE_TEST_SUITE_P(
    Tries, Escapes,
    testing::Values(
        Escape{"SubclassesOfObject",
               "for c in object.__subclasses__():\n"
               "    if c.__name__ in ('Popen', '_wrap_close', 'CDLL', 'socket'): reach(lambda c=c: c('/bin/true'))\n"},
        Escape{
            "FileIoOfLoader",
            "import io\nreach(lambda: io.FileIO('/etc/passwd').read())\nreach(lambda: io.open_code('/etc/passwd'))\n"},
        Escape{"BuiltinImporter",
               "import importlib.machinery as m\n"
               "for n in ('_socket', '_posixsubprocess', '_ctypes', 'fcntl', 'mmap', 'select', 'resource'):\n"
               "    s = None\n"
               "    try: s = m.BuiltinImporter.find_spec(n)\n"
               "    except BaseException: pass\n"
               "    if s is not None:\n"
               "        import importlib.util\n"
               "        mod = importlib.util.module_from_spec(s)\n"
               "        s.loader.exec_module(mod)\n"
               "        if n == '_socket': reach(lambda: mod.socket(2, 1, 0))\n"
               "        if n == '_posixsubprocess': reach(lambda: mod.fork_exec([b'/bin/true'], [b'/bin/true'], True, "
               "(), None, "
               "None, -1, -1, -1, -1, -1, -1, -1, -1, False, False, 0, None, None, None, -1, None))\n"
               "        if n == 'mmap': reach(lambda: mod.mmap(0, 4096))\n"},
        Escape{"ExtensionFileLoader",
               "import importlib.machinery as m, importlib.util\n"
               "reach(lambda: importlib.util.module_from_spec(m.ModuleSpec('_ctypes', m.ExtensionFileLoader('_ctypes', "
               "'/usr/lib/python3.11/lib-dynload/_ctypes.cpython-311-x86_64-linux-gnu.so'))))\n"},
        Escape{"SourceFileLoader",
               "from importlib.machinery import SourceFileLoader\n"
               "reach(lambda: SourceFileLoader('x', "
               "'/usr/lib/python3.11/this.py').get_data('/usr/lib/python3.11/this.py'))\n"},
        Escape{"PathHooksAgain",
               "import sys, importlib._bootstrap_external as b\n"
               "sys.path.append('/usr/lib/python3.11')\nsys.path.append('/usr/lib/python3.11/lib-dynload')\n"
               "sys.meta_path.append(b.PathFinder)\n"
               "sys.path_hooks.append(b.FileFinder.path_hook((b.SourceFileLoader, ['.py'])))\n"
               "del sys.meta_path[0]\nreach(lambda: __import__('_ctypes'))\n"},
        Escape{"ModulesOfGarbage",
               "import gc, types\n"
               "for o in gc.get_objects():\n"
               "    if isinstance(o, types.ModuleType) and o.__name__ in ('_posixsubprocess', '_socket', '_ctypes', "
               "'_kerf'):\n"
               "        if hasattr(o, 'socket'): reach(lambda: o.socket())\n"},
        Escape{"AuditHookGone",
               "import sys\nsys.addaudithook(lambda *a: None)\n"
               "import gc\n"
               "for o in gc.get_objects():\n    pass\n"
               "reach(lambda: open('/etc/hostname').read())\n"},
        Escape{"FramesOfBootstrap",
               "import sys\nf = sys._getframe()\nwhile f.f_back: f = f.f_back\n"
               "reach(lambda: f.f_builtins['open']('/etc/passwd').read())\n"},
        Escape{"BuiltinsRestored",
               "import builtins, io\nbuiltins.open = io.open\nreach(lambda: open('/etc/passwd').read())\n"},
        Escape{"DescriptorsOfFiles", "import os\nfor d in range(3, 64): reach(lambda: os.read(d, 10))\n"},
        Escape{"PipeReadBack", "import os\nfor d in range(0, 3): reach(lambda: os.read(d, 1))\n"},
        Escape{"DupOverPipe", "import os\nreach(lambda: os.dup2(1, 9))\nreach(lambda: os.pipe())\n"},
        Escape{"ProcSelf",
               "import os\nreach(lambda: os.readlink('/proc/self/exe'))\nreach(lambda: os.stat('/proc'))\n"},
        Escape{"Chdir", "import os\nreach(lambda: os.chdir('/'))\nreach(lambda: os.getcwd())\n"},
        Escape{"OriginalsOfRefusedFunctions",
               "import os\nfor f in (*os.supports_fd, *os.supports_follow_symlinks): reach(lambda: "
               "f('/proc/self/exe'))\n"},
        Escape{"Symlink", "import os\nreach(lambda: os.symlink('/etc/passwd', '/tmp/kerf_escape'))\n"},
        Escape{"TemporaryFile", "import tempfile\nreach(lambda: tempfile.NamedTemporaryFile())\n"},
        Escape{"Pathlib", "import pathlib\nreach(lambda: pathlib.Path('/etc/passwd').read_text())\n"},
        Escape{"Shutil", "reach(lambda: __import__('shutil').rmtree('/tmp/none'))\n"},
        Escape{"ForkThroughPosix", "import posix\nreach(lambda: posix.fork())\nreach(lambda: posix.vfork())\n"},
        Escape{"Spawn",
               "import os\nreach(lambda: os.spawnv(0, '/bin/true', ['true']))\nreach(lambda: "
               "os.posix_spawn('/bin/true', ['true'], {}))\n"},
        Escape{"Popen", "import os\nreach(lambda: os.popen('id').read())\n"},
        Escape{"ThreadLowLevel", "import _thread\nreach(lambda: _thread.start_new_thread(print, ()))\n"},
        Escape{"SignalsToOthers",
               "import os, signal\nreach(lambda: os.kill(1, 0))\nreach(lambda: os.killpg(os.getpgrp(), 9))\n"},
        Escape{"Alarm", "import signal\nreach(lambda: signal.setitimer(signal.ITIMER_REAL, 0.01) and None)\n"},
        Escape{"Nice", "import os\nreach(lambda: os.nice(-5))\nreach(lambda: os.setuid(0))\n"},
        Escape{"Limits", "reach(lambda: __import__('resource').setrlimit(9, (-1, -1)))\n"},
        Escape{"Uname", "import os\nreach(lambda: os.uname())\n"},
        Escape{"Environment", "import os\nif 'HOME' in os.environ or 'PATH' in os.environ: print('out', os.environ)\n"},
        Escape{"Urllib", "reach(lambda: __import__('urllib.request').request.urlopen('http://127.0.0.1'))\n"},
        Escape{"Asyncio", "reach(lambda: __import__('asyncio').run(None))\n"},
        Escape{"Sqlite", "reach(lambda: __import__('sqlite3').connect('/tmp/kerf_escape.db'))\n"},
        Escape{"Multiprocessing", "reach(lambda: __import__('multiprocessing').Process(target=print).start())\n"},
        Escape{"PickleReduce",
               "import pickle, os\n"
               "class P:\n    def __reduce__(self): return (os.system, ('true',))\n"
               "reach(lambda: pickle.loads(pickle.dumps(P())))\n"},
        Escape{"LoadOfTorch",
               "import torch, io, os\n"
               "class P:\n    def __reduce__(self): return (os.system, ('true',))\n"
               "b = io.BytesIO()\n"
               "try:\n    torch.save(P(), b); b.seek(0)\nexcept BaseException: pass\n"
               "reach(lambda: torch.load(b, weights_only=False))\n"},
        Escape{"MarshalledCode",
               "import marshal\nreach(lambda: eval(marshal.loads(marshal.dumps(compile(\"open('/etc/passwd')\", 'x', "
               "'eval')))))\n"},
        Escape{"GeneratorFrame",
               "def g():\n    yield\n"
               "x = g(); next(x)\nreach(lambda: x.gi_frame.f_builtins['__import__']('ctypes'))\n"},
        Escape{"CodeWithWrongConstants",
               "def f(): return 1\n"
               "f.__code__ = f.__code__.replace(co_consts=())\nf()\nprint('done')\n"},
        Escape{"CodeWithHugeJump",
               "def f(): return 1\n"
               "f.__code__ = f.__code__.replace(co_code=bytes([144, 255, 144, 255, 144, 255, 110, 255] + "
               "list(f.__code__.co_code)))\n"
               "f()\n"},
        Escape{"CodeWithForeignCells",
               "import types\n"
               "def f():\n    x = 1\n    return lambda: x\n"
               "c = f().__code__\nreach(lambda: types.FunctionType(c, {}, None, None, None)() and None)\n"},
        Escape{"DeepRecursion", "import sys\nsys.setrecursionlimit(10 ** 9)\ndef f(x): return max([x], key=f)\nf(1)\n"},
        Escape{"HugeInteger",
               "import sys\nsys.set_int_max_str_digits(0)\nreach(lambda: [1] * len(str(10 ** 5)) * 10 ** 12)\n"},
        Escape{"HugeTensor", "import torch\nreach(lambda: torch.empty(1 << 40))\n"},
        Escape{"NegativeStrides",
               "import torch\nreach(lambda: torch.ones(4).as_strided((4,), (-1,), 3))\n"
               "reach(lambda: torch.ones(4).as_strided((1000,), (1000,), 0))\n"},
        Escape{"DestructorAtTheEnd",
               "class D:\n    def __del__(self):\n        try:\n            open('/etc/passwd'); print('out')\n        "
               "except PermissionError: pass\n"
               "import builtins\nbuiltins.kept = D()\n"},
        Escape{"AtExit", "import atexit\natexit.register(lambda: reach(lambda: open('/etc/passwd')))\n"},
        Escape{"ExcHook",
               "import sys\nsys.excepthook = lambda *a: reach(lambda: open('/etc/passwd'))\nraise ValueError\n"},
        Escape{"Trace",
               "import sys\nsys.settrace(lambda f, e, a: reach(lambda: open('/etc/passwd')) and None)\n(lambda: "
               "1)()\nsys.settrace(None)\n"},
        Escape{"CodecSearch",
               "import codecs\ncodecs.register(lambda n: reach(lambda: open('/etc/passwd')))\nreach(lambda: "
               "'x'.encode('kerf'))\n"},
        Escape{"LineCache", "import linecache\nprint(linecache.getline('/etc/passwd', 1) and 'out')\n"},
        Escape{"InspectSource", "import inspect, json\nreach(lambda: inspect.getsource(json.decoder))\n"},
        Escape{"ZipImport", "reach(lambda: __import__('zipimport').zipimporter('/tmp/x.zip'))\n"},
        Escape{"Runpy", "reach(lambda: __import__('runpy').run_path('/etc/passwd'))\n"}),
    [](const auto& info) { return info.param.name; });

TEST(EscapesLeave, NothingBehind) {
  EXPECT_FALSE(std::filesystem::exists("/tmp/kerf_escape"));
  EXPECT_FALSE(std::filesystem::exists("/tmp/kerf_escape.db"));
}

/// Bytes drawn from a fixed sequence stand in a code object in place of its own: at worst the child ends.
TEST(RandomCode, NeverEndsTheParent) {
  constexpr const char* text =
      "import random\n"
      "def f(a=1, b=[2]):\n    for x in b:\n        a += x\n    return [a, *b], {a: b}\n"
      "r = random.Random(SEED)\n"
      "code = bytearray(f.__code__.co_code)\n"
      "for _ in range(r.randint(1, 12)):\n    code[r.randrange(len(code))] = r.randrange(256)\n"
      "f.__code__ = f.__code__.replace(co_code=bytes(code), co_stacksize=r.choice([0, 1, 2, 50]),\n"
      "                                co_exceptiontable=bytes(r.randrange(256) for _ in range(r.choice([0, 4, "
      "16]))))\n"
      "try:\n    f()\nexcept BaseException as error:\n    print(type(error).__name__)\n";
  for (int seed = 0; seed < 12; ++seed) {
    std::string own = text;
    own.replace(own.find("SEED"), 4, std::to_string(seed));
    ProgramRequest request{.text = own, .name = "random.py"};
    request.limits.timeout = std::chrono::seconds(5);
    request.limits.memoryBytes = 2LL << 30;
    const auto answer = runProgram(request, torchEnvironment(), encodeObject);
    if (!answer) {
      EXPECT_EQ(answer.error().code, ErrorCode::RuntimeFailed) << seed << ": " << answer.error().text();
    }
  }
}

}  // namespace
}  // namespace kerf
