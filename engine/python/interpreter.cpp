#include "engine/python/interpreter.h"

#include <algorithm>
#include <filesystem>

#include "engine/python/bootstrap.h"
#include "engine/python/program_line.h"

namespace kerf::inline python {
namespace {

const ProgramEnvironment* current = nullptr;

/// "torch.nn" → "nn/__init__.py" or "nn.py" among the package's files; the package itself → "__init__.py".
const EmbeddedFile* fileOf(std::string_view module, bool& isPackage) {
  if (current == nullptr || !module.starts_with(current->package)) return nullptr;
  std::string path(module.substr(current->package.size()));
  if (!path.empty() && path[0] != '.') return nullptr;
  std::ranges::replace(path, '.', '/');
  if (!path.empty()) path.erase(0, 1);
  const std::string asPackage = path.empty() ? "__init__.py" : path + "/__init__.py", asModule = path + ".py";
  for (const EmbeddedFile& file : current->files) {
    isPackage = file.path == asPackage;
    if (isPackage || file.path == asModule) return &file;
  }
  return nullptr;
}

/// source(name) → (text, is_package, path), or None.
PyObject* source(PyObject*, PyObject* name) {
  bool isPackage = false;
  const EmbeddedFile* file = fileOf(textOf(name), isPackage);
  if (file == nullptr) Py_RETURN_NONE;
  return Py_BuildValue("(s#Os#)", file->text.data(), Py_ssize_t(file->text.size()), isPackage ? Py_True : Py_False,
                       file->path.data(), Py_ssize_t(file->path.size()));
}

/// builtin(name): a module of Kerf's, or None.
PyObject* builtin(PyObject*, PyObject* name) {
  const std::string text = textOf(name);
  for (const BuiltinModule& module : current->modules)
    if (module.name == text) return static_cast<PyObject*>(module.make());
  Py_RETURN_NONE;
}

/// write(text, is_error): nothing is kept beyond the limit.
PyObject* writeOut(PyObject*, PyObject* args) {
  PyObject* object = nullptr;
  int isError = 0;
  if (!PyArg_ParseTuple(args, "Up", &object, &isError)) return nullptr;
  ProgramOutput& output = programOutput();
  const std::string text = textOf(object);
  std::string& to = isError ? output.errors : output.text;
  const auto room = std::size_t(std::max<std::int64_t>(output.limit - std::int64_t(to.size()), 0));
  to.append(text, 0, room);
  output.isCut = output.isCut || text.size() > room;
  return PyLong_FromSsize_t(PyUnicode_GetLength(object));
}

/// place(): " (bug.py, line 3)" of the program.
PyObject* place(PyObject*, PyObject*) { return makeText(programLine()).release(); }

PyMethodDef functions[] = {{"source", source, METH_O, nullptr},
                           {"place", place, METH_NOARGS, nullptr},
                           {"builtin", builtin, METH_O, nullptr},
                           {"write", writeOut, METH_VARARGS, nullptr},
                           {nullptr, nullptr, 0, nullptr}};
PyModuleDef definition{PyModuleDef_HEAD_INIT, "_kerf", nullptr, -1, functions, nullptr, nullptr, nullptr, nullptr};
PyObject* makeModule() { return PyModule_Create(&definition); }

/// A status of CPython's configuration as a result.
Result<void> good(PyStatus status) {
  if (!PyStatus_Exception(status)) return {};
  return fail(ErrorCode::Environment, "CPython does not start: {}", status.err_msg ? status.err_msg : "unknown");
}

/// The folder whose lib/pythonX.Y is the standard library that was packed with this program; empty: the system's is used.
std::filesystem::path ownHome() {
  std::error_code ignored;
  const auto home = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path().parent_path();
  const auto landmark = home / "lib" / fmt::format("python{}.{}", PY_MAJOR_VERSION, PY_MINOR_VERSION) / "os.py";
  return std::filesystem::exists(landmark, ignored) ? home : std::filesystem::path();
}

/// No site, no user's paths, no environment variables, hashes of one seed.
Result<void> configure(PyConfig& config) {
  config.site_import = 0;
  config.install_signal_handlers = 0;
  config.use_hash_seed = 1;
  config.hash_seed = 0;
  config.write_bytecode = 0;
  config.buffered_stdio = 0;
  if (const auto home = ownHome(); !home.empty())
    KERF_CHECK(good(PyConfig_SetBytesString(&config, &config.home, home.c_str())));
  return good(Py_InitializeFromConfig(&config));
}

Result<void> initialize() {
  PyPreConfig before;
  PyPreConfig_InitIsolatedConfig(&before);
  before.utf8_mode = 1;
  KERF_CHECK(good(Py_PreInitialize(&before)));
  if (PyImport_AppendInittab("_kerf", makeModule) < 0) return fail(ErrorCode::Environment, "CPython does not start");
  PyConfig config;
  PyConfig_InitIsolatedConfig(&config);
  auto started = configure(config);
  PyConfig_Clear(&config);
  return started;
}

/// Runs Kerf's own Python in a namespace of its own.
Result<void> runBootstrap() {
  for (const EmbeddedFile& file : bootstrapFiles()) {
    const Ref names = Ref::steal(PyDict_New());
    PyDict_SetItemString(names.get(), "__builtins__", PyEval_GetBuiltins());
    const Ref code = Ref::steal(Py_CompileString(std::string(file.text).c_str(),
                                                 ("<kerf " + std::string(file.path) + ">").c_str(), Py_file_input));
    if (!code) return fail(takePythonError());
    KERF_CHECK(checked(PyEval_EvalCode(code.get(), names.get(), names.get())));
  }
  return {};
}

}  // namespace

ProgramOutput& programOutput() {
  static ProgramOutput output;
  return output;
}

Result<void> startInterpreter(const ProgramEnvironment& environment) {
  current = &environment;
  KERF_CHECK(initialize());
  KERF_CHECK(runBootstrap());
  if (environment.prepare) KERF_CHECK(environment.prepare());
  if (!environment.package.empty()) KERF_CHECK(checked(PyImport_ImportModule(environment.package.c_str())));
  return {};
}

}  // namespace kerf::inline python
