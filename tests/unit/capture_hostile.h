// Captures whose every text carries a payload: Python that would touch the file `mark` if anything ran it.
#pragma once

#include "engine/tensor/zip_directory.h"
#include "engine/tensor/zip_writer.h"
#include "tests/unit/capture_trace_testing.h"

namespace kerf::testing {

struct HostileCapture {
  std::string name;                                             ///< of the file or folder
  std::vector<std::pair<std::string, std::string>> files = {};  ///< path below the capture's folder, text
};

/// Expressions that would touch `mark`, for every place where an expression stands.
inline std::vector<std::string> hostileExpressions(const std::string& mark) {
  const std::string path = "'" + mark + "'";
  return {"__import__('pathlib').Path(" + path + ").touch()",
          "__import__('os').system('touch " + mark + "')",
          "exec(\"open('" + mark + "', 'w')\")",
          "eval(\"open('" + mark + "', 'w')\")",
          "open(" + path + ", 'w')",
          "torch.os.system('touch " + mark + "')",
          "torch.os.popen('touch " + mark + "').read()",
          "torch.load(" + path + ", weights_only = False)",
          "torch.save(x, " + path + ")",
          "torch.hub.load(" + path + ", 'm')",
          "torch.ops.load_library(" + path + ")",
          "torch.ops.import_module(" + path + ")",
          "torch.ops.aten.save(x, " + path + ")",
          "torch.ops.aten.from_file.default(" + path + ")",
          "torch.jit.load(" + path + ")",
          "torch.package.PackageImporter(" + path + ")",
          "torch.classes.load_library(" + path + ")",
          "torch.utils.cpp_extension.load(" + path + ", 's')",
          "torch.serialization.load(" + path + ")",
          "torch.distributed.init_process_group(" + path + ")",
          "torch.testing.os.system('touch " + mark + "')",
          "torch.sys.modules['os'].system('touch " + mark + "')",
          "builtins.exec(\"open('" + mark + "', 'w')\")",
          "operator.methodcaller('system', 'touch " + mark + "')(torch.os)",
          "operator.attrgetter('os.system')(torch)('touch " + mark + "')",
          "getattr(torch, 'load')(" + path + ")",
          "getattr(torch, 'lo' + 'ad')(" + path + ")",
          "globals()['exec'](\"open('" + mark + "', 'w')\")",
          "compile(\"open('" + mark + "', 'w')\", 'f', 'exec')",
          "x.__reduce_ex__(" + path + ")",
          "x.numpy(" + path + ")",
          "x.apply_(open)",
          "x.register_hook(" + path + ")",
          "torch.ops.higher_order.map_impl(torch.os.system, 'touch " + mark + "')",
          "torch.ops.aten.relu.default(torch.load(" + path + "))",
          "torch.relu(x, out = torch.load(" + path + "))",
          "(lambda: open(" + path + ", 'w'))()",
          "[open(" + path + ", 'w') for i in (1,)]",
          "f'{open(" + path + ", chr(119))}'",
          "torch.compile(" + path + ")"};
}

inline std::string hostileReadable(const std::string& parameter, const std::string& value,
                                   const std::string& before = {}) {
  return "class GraphModule(torch.nn.Module):\n    def forward(self, " + parameter + "):\n" + before +
         "        a = " + value + "\n        return (a,)\n";
}

/// Lines of forward() that would touch `mark` by a function that they find and have called: each ends with a value `a`.
inline std::vector<std::string> hostileBodies(const std::string& mark) {
  const std::string run = "'touch " + mark + "'", path = "'" + mark + "'";
  const std::string device = "m = torch.get_device_module('cuda')\ns = m.os.system\n",
                    call = "torch.utils.checkpoint.checkpoint(";
  return {device + "a = " + call + "s, " + run + ", use_reentrant = False)",
          device + "a = max([" + run + "], key = s)",
          device + "a = sorted([" + run + "], key = s)",
          device + "d = {'key': s}\na = min([" + run + "], **d)",
          device + "a = torch.vmap(s, " + run + ")",
          device + "t = s\na = " + call + "t, " + run + ")",
          device + "y = [s]\nz = y[0]\na = " + call + "z, " + run + ")",
          device + "a = " + call + "*[s, " + run + "])",
          device + "a = " + call + "function = s, b = " + run + ")",
          device + "a = " + call + "s if 1 else s, " + run + ")",
          device + "a = torch._check(False, s, " + run + ")",
          device + "a = torch.lobpcg(" + run + ", tracker = s)",
          device + "a = torch.ops.higher_order.map_impl(s, " + run + ", ())",
          device + "a = list(map(s, [" + run + "]))",
          device + "a = next(iter(s, " + run + "))",
          "a = max([" + run + "], key = torch.get_device_module('cuda').os.system)",
          "n = " + call + "x.numpy, use_reentrant = False)\na = " + call + "n.tofile, " + path + ")",
          "f = x.tofile\na = torch.vmap(f, " + path + ")",
          "f = x.real.tofile\na = " + call + "f, " + path + ")",
          "f = getattr(x, \"tofile\")\na = " + call + "f, " + path + ")",
          "f = torch.relu(x).tofile\na = " + call + "f, " + path + ")",
          "f = x[0].tofile\na = " + call + "f, " + path + ")",
          "f, g = x.tofile, x.tofile\na = " + call + "g, " + path + ")",
          "a = x.real.tofile(" + path + ")",
          "a = (x.tofile)(" + path + ")",
          "a = (x and x.tofile)(" + path + ")",
          "a = (f := x.tofile)(" + path + ")",
          "a = torch.Tensor.tofile(" + path + ")",
          "s = self.m.os.system\na = " + call + "s, " + run + ")",
          "a = self.m.os.system(" + run + ")",
          "a = self.m.os.spawnlp(0, 'touch', 'touch', " + path + ")",
          "a = self.m.pathlib.Path(" + path + ").touch()",
          "a = getattr(self.m, \"os\").system(" + run + ")",
          "a = getattr(getattr(torch, \"os\"), \"system\")(" + run + ")",
          "f = self.apply\na = " + call + "f, " + path + ")",
          "a = self.apply(" + path + ")",
          "globals()['len'] = torch.os.system\na = len(" + run + ")",
          "torch.relu += 1\na = torch.load(" + path + ")",
          "operator = x\na = operator.tofile(" + path + ")",
          "a = '{0.os}'.format(torch).load(" + path + ")",
          "a = torch.ops.image.write_file(" + path + ", x)"};
}

/// The lines as statements of a method.
inline std::string indentedBody(const std::string& lines) {
  std::string text = "        ";
  for (const char c : lines) text += c == '\n' ? std::string("\n        ") : std::string(1, c);
  return text + "\n";
}

inline const std::string reluCall = "torch.ops.aten.relu.default(x);  x = None";

/// One graph text for every field of print_readable and str(graph).
inline std::vector<std::string> hostileGraphTexts(const std::string& mark) {
  std::vector<std::string> texts;
  for (const std::string& expression : hostileExpressions(mark))
    texts.push_back(hostileReadable("x: \"f32[4]\"", expression));
  for (const std::string& body : hostileBodies(mark))
    texts.push_back("class GraphModule(torch.nn.Module):\n    def forward(self, x: \"f32[4]\"):\n" +
                    indentedBody(body) + "        return (a,)\n");
  const std::string run = hostileExpressions(mark)[0], call = "open('" + mark + "', 'w')";
  for (const std::string& type : std::vector<std::string>{run, "list[" + run + "]", "\"f32[" + run + "]\"",
                                                          "torch.Tensor if " + run + " else int", "\"f32[4]\" = " + run,
                                                          "torch.Tensor = " + call})
    texts.push_back(hostileReadable("x : " + type, reluCall));
  for (const std::string& value : std::vector<std::string>{
           "torch.ops.aten.add.Tensor(x, \"'); " + call + " #\")",
           "torch.ops.aten.to.device(x, device(type=\"cpu'); " + call + "#\"))",
           "torch.ops.aten.sum.dim_IntList(x, [" + run + "])",
           "torch.ops.aten.add.Tensor(x, **{\"a = " + run + "\": 1})",
           "torch.ops.aten.full.default([s0 + " + run + "], 1)", "self.a_b.__class__(" + run + ")",
           "self.load('" + mark + "')", "getattr(self, \"a\\\"); " + call + " #\")", "x[" + run + "]",
           "x.view(" + run + ")", "torch.ops.aten.relu.default(x);  " + run,
           "torch.ops.aten.relu.default(x)\r        " + run, "torch.ops.aten.relu.default(x)\xE2\x80\xA8        " + run,
           "torch.ops.aten.relu.default(x)  # \xE2\x80\xAE" + run})
    texts.push_back(hostileReadable("x: \"f32[4]\"", value));
  for (const std::string& comment :
       std::vector<std::string>{"        # File: /a.py:1 in f, code: x\r        " + run + "\n",
                                "        # File: /a.py:1 in f, code: '''\n", "        " + run + "\n"})
    texts.push_back(hostileReadable("x: \"f32[4]\"", reluCall, comment));
  for (const char* name :
       {"torch", "device", "inf", "self", "getattr", "\xEF\xBD\x81", "a\xE2\x80\xA8", "\xF0\x9F\x98\x80"})
    texts.push_back("class G(torch.nn.Module):\n    def forward(self, x: \"f32[4]\"):\n        " + std::string(name) +
                    " = torch.ops.aten.relu.default(x)\n        a = torch.load('" + mark + "')\n        return (a,)\n");
  for (const std::string& line : std::vector<std::string>{
           "%a : [num_users=1] = call_function[target=torch.load](args = (" + ("'" + mark + "'") + ",), kwargs = {})",
           "%a : " + run + " [num_users=1] = call_function[target=torch.relu](args = (%x,), kwargs = {})",
           "%a : [num_users=1] = call_function[target=torch.relu(1); " + call + "](args = (%x,), kwargs = {})",
           "%a : [num_users=1] = call_method[target=numpy('" + mark + "').x](args = (%x,), kwargs = {})",
           "%a : [num_users=1] = call_module[target=a\"); " + call + "](args = (%x,), kwargs = {})",
           "%a : [num_users=1] = get_attr[target=a\"); " + call + " #]",
           "%a : [num_users=1] = call_function[target=torch.relu](args = (%x,), kwargs = {k = " + call + ": 1})",
           "%a : [num_users=1] = call_function[target=torch.relu](args = (" + run + ",), kwargs = {})",
           "%a : [num_users=1] = call_function[target=torch.relu](args = (torch.os.system,), kwargs = {})",
           "%a : [num_users=1] = call_function[target=builtins.getattr](args = (%x, tofile), kwargs = {})",
           "%a : [num_users=1] = call_module[target=m.os.system](args = ('touch " + mark + "',), kwargs = {})",
           "%a : [num_users=1] = call_module[target=apply](args = (%x,), kwargs = {})",
           "%a : [num_users=1] = get_attr[target=m.os.system]",
           "%a : [num_users=1] = call_function[target=torch.utils.checkpoint.checkpoint](args = (%x, '" + mark +
               "'), kwargs = {})",
           "%a : [num_users=1] = call_function[target=torch.vmap](args = (torch.relu, '" + mark + "'), kwargs = {})"})
    texts.push_back("graph():\n    %x : [num_users=1] = placeholder[target=x]\n    " + line + "\n    return (a,)");
  return texts;
}

/// Repros with a payload in a line around the graph, in __init__, in load_args and behind it.
inline std::vector<std::string> hostileReproTexts(const std::string& mark) {
  const std::string run = hostileExpressions(mark)[0],
                    relu = "    def forward(self, x):\n        a = " + reluCall + "\n        return (a,)\n";
  const std::string loader = "    buf0 = reader.storage(None, 16)\n    reader.tensor(buf0, (4,))  # x\n";
  std::vector<std::string> texts;
  for (const std::string& header :
       std::vector<std::string>{run,
                                "import os; os.system('touch " + mark + "')",
                                "from os import system as relu",
                                "os.environ['CXX'] = 'touch " + mark + "'",
                                "os.environ['TORCHINDUCTOR_CACHE_DIR'] = '" + mark + "'",
                                "torch._inductor.config.cpp.cxx = ('touch', '" + mark + "')",
                                "torch._inductor.config.x = " + run,
                                "torch.relu = torch.load",
                                "# coding: unicode_escape\n# \\n" + run,
                                "@exec\nclass A: pass",
                                "@torch.load('" + mark + "')\ndef kernel(x):\n    tl.store(x, 1)\n\n    " + run,
                                "import triton\nimport triton.language as tl\n@triton.jit\ndef kernel(x):\n    " + run,
                                "class Repro2(torch.nn.Module):\n    y = " + run,
                                "x = [" + run + " for i in (1,)]",
                                "s0 = " + run,
                                "if True:\n    " + run,
                                "'''\n" + run + "\n'''; " + run,
                                "import torch as os\nimport " + mark,
                                "try:\n    " + run + "\nexcept: pass",
                                "print(" + run + ")",
                                "assert " + run,
                                "del torch",
                                "class len(torch.nn.Module):\n    def forward(self, x):\n        return x",
                                "class torch_relu(torch.nn.Module):\n    def forward(self, x):\n        return x",
                                "class Repro(torch.nn.Module):\n    def forward(self, x):\n        return x",
                                "def load_args(reader):\n    reader.symint(3, expr='s0' '+" + run + "')",
                                "len = 3",
                                "s0 = 8\ns0 = 9",
                                "if __name__ == '__main__':\n    run_repro(1)",
                                "\xEF\xBB\xBF" + run})
    texts.push_back(header + "\n" + reproAround("", relu, loader));
  for (const std::string& init :
       std::vector<std::string>{"self.m = " + run,
                                "self.m = torch.load('" + mark + "')",
                                "self.m = Evil(" + run + ")",
                                "self.register_buffer('b', tensor(" + run + "))",
                                "self.register_buffer('b', torch.load('" + mark + "'))",
                                "self.m = Linear(2, " + run + ")",
                                "self.m = Linear(2, 2)\n        " + run,
                                "self.register_buffer('b\"); " + run + "', tensor(1))",
                                "self.p = torch.nn.Parameter(torch.from_file('" + mark + "'))",
                                "self.__class__ = " + run,
                                "self.m = torch.get_device_module('cuda')",
                                "self.m = torch.os",
                                "self.m = max",
                                "self.m = max(['touch " + mark + "'], key=torch.get_device_module('cuda').os.system)",
                                "self.m = Linear(2, 2)\n        self.forward = self.m",
                                "self.apply = Linear(2, 2)",
                                "self.__dict__['forward'] = Linear(2, 2)",
                                "self.__dict__['m']['os'] = Linear(2, 2)",
                                "self._forward_hooks = {0: max}",
                                "self.m: torch.os = Linear(2, 2)"})
    texts.push_back(reproAround("        " + init + "\n", relu, loader));
  for (const std::string& line : std::vector<std::string>{
           "reader.const(" + run + ")  # x", "reader.opaque(" + run + ")  # x", "reader.generator(" + run + ")  # x",
           "reader.unsupported(" + run + ")  # x", "reader.unsupported('x')  # x\n    '''\n    " + run + "\n    '''",
           "reader.symint(3)  # x\r    " + run, "reader.symint(3, expr='" + std::string("exec(1)") + "')  # x",
           "reader.symint(3, expr='s0' '+" + run + "')  # x", "reader.symint(3, **{'expr': '" + run + "'})  # x",
           "reader.symint(3, '" + run + "')  # x", "reader.symint(3, expr=('" + run + "'))  # x",
           "reader.os.system('touch " + mark + "')  # x", "reader.symint(" + run + ")  # x",
           "reader.load('" + mark + "')  # x",
           "buf0 = reader.storage(\"a'); " + run + " #\", 16)\n    reader.tensor(buf0, (4,))  # x",
           "buf0 = reader.storage(None, 16, device=device(type=" + run + "))\n    reader.tensor(buf0, (4,))  # x",
           "buf0 = reader.storage(None, 16)\n    reader.tensor(buf0, (4,), conj=" + run + ")  # x",
           "buf0 = reader.storage(None, " + run + ")\n    reader.tensor(buf0, (4,))  # x",
           "buf0 = reader.storage(None, 16)\n    reader.tensor(buf0, (s0*" + run + ",))  # x"})
    texts.push_back(reproAround("", relu, "    " + line + "\n"));
  const auto replaced = [&](const std::string& what, const std::string& by) {
    std::string text = reproAround("", relu, loader);
    texts.push_back(text.replace(text.find(what), what.size(), by));
  };
  for (const std::string& body : hostileBodies(mark))
    texts.push_back(reproAround("        self.m = Linear(2, 2)\n",
                                "    def forward(self, x):\n" + indentedBody(body) + "        return (a,)\n", loader));
  const std::string second =
      "class Repro(torch.nn.Module):\n    def forward(self, x):\n        a = torch.ops.aten.neg.default(x)\n        "
      "return "
      "(a,)\n\ndef load_args(reader):\n    reader.symint(3, expr='s0' '+" +
      run + "')\n";
  replaced("load_args._version = 0\n", "load_args._version = 0\n" + second);
  replaced("def load_args(reader):\n", second + "def load_args(reader):\n");
  replaced("mod = Repro()", "mod = Repro()\n" + second + "mod = Repro()");
  replaced("    def forward(self, x):\n", "    def forward(self, x, y=" + run + "):\n");
  replaced("        return (a,)\n",
           "        return (a,)\n\n    def forward(self, x):\n        return x.numpy('" + mark + "')\n");
  replaced("accuracy=False", "accuracy=" + run);
  replaced("save_dir=None", "save_dir=" + run);
  replaced("check_str=None", "check_str=" + run);
  replaced("mod = Repro()", "mod = Repro(); " + run);
  replaced("        # mod(*args)", "        " + run);
  replaced("load_args._version = 0", "load_args._version = " + run);
  replaced("class Repro(torch.nn.Module)", "class Repro(torch.nn.Module, metaclass=" + run + ")");
  replaced("torch._dynamo.repro.after_aot import run_repro", "os import system as run_repro");
  return texts;
}

inline std::string replacedOnce(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  return at == std::string::npos ? std::string() : text.replace(at, what.size(), by);
}

/// The seed's archive with model.json (or another member) changed; empty where there was nothing to change.
inline std::string changedArchive(const std::string& bytes, const std::string& member, const std::string& what,
                                  const std::string& by) {
  const auto zip = ZipDirectory::read(std::as_bytes(std::span(bytes)), 1000);
  std::string out;
  bool changed = false;
  ZipWriter writer([&](std::span<const std::byte> piece) -> Result<void> {
    out.append(reinterpret_cast<const char*>(piece.data()), piece.size());
    return {};
  });
  for (const ZipMember& one : zip->members()) {
    std::string text = zip->read(one, 1 << 20).value_or(std::string());
    if (one.name.ends_with(member)) {
      text = what.empty() ? by : replacedOnce(text, what, by);
      changed = !text.empty();
    }
    if (!writer.add(one.name, std::string_view(text))) return {};
  }
  return writer.finish() && changed ? out : std::string();
}

/// A pickle that calls os.system.
inline std::string hostilePickle(const std::string& mark) { return "cposix\nsystem\n(S'touch " + mark + "'\ntR."; }

/// Exported programs with a payload in a text that torch.export.load evaluates or unpickles.
inline std::vector<std::string> hostilePrograms(const std::string& mark, const std::filesystem::path& seeds) {
  const std::string run = "__import__('pathlib').Path('" + mark + "').touch()";
  const std::string relu = readFile(seeds / "relu.pt2"), kinds = readFile(seeds / "kinds.pt2"),
                    dynamic = readFile(seeds / "dynamic.pt2"), linear = readFile(seeds / "linear.pt2");
  const std::string spec =
      R"([1, {\"type\": \"collections.defaultdict\", \"context\": \"{\\\"default_factory_module\\\": \\\"antigravity\\\", \\\"default_factory_name\\\": \\\"x\\\"}\", \"children_spec\": []}])";
  struct Change {
    const std::string& seed;
    std::string what, by;
  };
  const std::vector<Change> changes = {
      {relu, "torch.ops.aten.relu.default", "torch.os.system"},
      {relu, "torch.ops.aten.relu.default", "torch.load"},
      {relu, "torch.ops.aten.relu.default", "torch.ops.load_library"},
      {relu, "torch.ops.aten.relu.default", "torch.hub.load"},
      {relu, "torch.ops.aten.relu.default", "torch.ops.aten.relu.__class__"},
      {relu, "torch.ops.aten.relu.default", "torch.relu(1);" + run},
      {relu, "torch.ops.aten.relu.default", "#evil:loader"},
      {relu, "\"guards_code\": [", "\"guards_code\": [\"" + run + "\""},
      {relu, "\"name\": \"self\"", "\"name\": \"self=" + run + ", b\""},
      {relu, "\"verifiers\"", "\"evil_code\": \"" + run + "\", \"verifiers\""},
      {relu, "\"stack_trace\": \"", "\"stack_trace\": \"\\n" + run + "\\n"},
      {relu, "\"nodes\": [", "\"nodes\": [], \"nodes\": ["},
      {relu, "\"target\"", "\"target\": \"torch.load\", \"target\""},
      {kinds, "torch.ops.my.op.default", "torch.ops.my.op.load_library"},
      {kinds, "\"true_graph_0\"", "\"true\\\"); " + run + "\""},
      {kinds, "\"as_strings\": [\"p\"", "\"as_strings\": [\"'); " + run + " #\""},
      {kinds, "\"type\": \"cpu\"", "\"type\": \"cpu'); " + run + " #\""},
      {dynamic, "\"expr_str\": \"", "\"expr_str\": \"" + run + " or "},
      {dynamic, "\"expr_str\": \"", "\"expr_str\": \"Symbol('s0', a=" + run + ")*"},
      {dynamic, "\"expr_str\": \"", "\"expr_str\": \"eval('1')*"},
      {linear, "\"buffer_name\": \"", "\"buffer_name\": \"a\\\"); " + run + " #"},
      {linear, "\"parameter_name\": \"", "\"parameter_name\": \"a\\\"); " + run + " #"}};
  std::vector<std::string> archives;
  const auto keep = [&](std::string archive) {
    if (!archive.empty()) archives.push_back(std::move(archive));
  };
  for (const Change& change : changes) keep(changedArchive(change.seed, "models/model.json", change.what, change.by));
  for (const char* key : {"\"in_spec\": \"", "\"out_spec\": \""})
    keep(changedArchive(relu, "models/model.json", key, std::string(key) + spec + "\", \"old\": \""));
  keep(changedArchive(relu, "sample_inputs/model.pt", {}, hostilePickle(mark)));
  keep(changedArchive(linear, "weights/model_weights_config.json", "\"use_pickle\": false", "\"use_pickle\": true"));
  keep(changedArchive(linear, "weights/model_weights_config.json", "weight_0", "../../weight_0"));
  keep(changedArchive(linear, "weights/weight_0", {}, hostilePickle(mark)));
  keep(changedArchive(kinds, "constants/custom_obj_0", {}, hostilePickle(mark)));
  return archives;
}

/// All of them, in all forms that Kerf imports.
inline std::vector<HostileCapture> hostileCaptures(const std::string& mark, const std::filesystem::path& seeds) {
  std::vector<HostileCapture> captures;
  const auto add = [&](std::string name, std::vector<std::pair<std::string, std::string>> files) {
    captures.push_back({std::move(name), std::move(files)});
  };
  const std::string stage = "\"aot_forward_graph\": {}" + frame00;
  for (const std::string& text : hostileGraphTexts(mark)) {
    add("pasted", {{"graph.txt", text}});
    if (!text.starts_with("class")) continue;
    add("trace", {{"dedicated_log_torch_trace_a.log", traceRecord(stage, text)}});
    const std::string graph = "torch_compile_debug/run_1-pid_2/torchinductor/model__0_forward_1.0/";
    add("debug", {{graph + "fx_graph_readable.py", text}, {graph + "fx_graph_transformed.py", text}});
  }
  for (const std::string& text : hostileReproTexts(mark)) {
    add("repro", {{"repro.py", text}});
    add("runnable",
        {{"torch_compile_debug/run_1-pid_2/torchinductor/model__0_forward_1.0/fx_graph_runnable.py", text}});
  }
  for (const std::string& bytes : hostilePrograms(mark, seeds)) add("program", {{"program.pt2", bytes}});
  return captures;
}

}  // namespace kerf::testing
