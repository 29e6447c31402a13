#include "engine/python/interpreter.h"
#include "engine/python/program_line.h"

namespace kerf::inline python {
namespace {

Ref fetchedException() {
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  if (traceback != nullptr) PyException_SetTraceback(value, traceback);
  Py_XDECREF(type);
  Py_XDECREF(traceback);
  return Ref::steal(value);
}

/// sys.exit(n): its number; a text goes to the errors and counts as 1.
int exitStatusOf(PyObject* exception) {
  const Ref code = attributeOf(exception, "code");
  if (!code || code.get() == Py_None) return 0;
  if (PyLong_Check(code.get())) return int(PyLong_AsLong(code.get()));
  programOutput().errors += printed(code.get()) + "\n";
  return 1;
}

/// Prints the traceback as the interpreter would, without reading files: lines are known to linecache.
void printTraceback(PyObject* exception) {
  const Ref module = Ref::steal(PyImport_ImportModule("traceback"));
  const Ref done = module ? Ref::steal(PyObject_CallMethod(module.get(), "print_exception", "O", exception)) : Ref();
  if (!done) PyErr_Clear();
}

void noteException(const Ref& exception, const std::string& program, ProgramAnswer& answer) {
  if (PyErr_GivenExceptionMatches(exception.get(), PyExc_SystemExit)) {
    answer.exitStatus = exitStatusOf(exception.get());
    return;
  }
  printTraceback(exception.get());
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.get())), exception.get());
  const Error error = takePythonError();
  answer.exitStatus = 1;
  answer.exception = error.message;
  for (Ref step = attributeOf(exception.get(), "__traceback__"); step && step.get() != Py_None;
       step = attributeOf(step.get(), "tb_next")) {
    const auto* traceback = reinterpret_cast<PyTracebackObject*>(step.get());
    const Ref code = Ref::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(traceback->tb_frame)));
    if (textOf(reinterpret_cast<PyCodeObject*>(code.get())->co_filename) != program) continue;
    const Ref line = attributeOf(step.get(), "tb_lineno");
    if (line) answer.line = int(PyLong_AsLong(line.get()));
  }
}

/// compile(text), or what the named function of a module makes of it.
Ref codeOf(const std::string& text, const std::string& name, const std::string& compiler) {
  if (compiler.empty()) return Ref::steal(Py_CompileString(text.c_str(), name.c_str(), Py_file_input));
  const std::size_t colon = compiler.find(':');
  const Ref module = Ref::steal(PyImport_ImportModule(compiler.substr(0, colon).c_str()));
  if (!module) return {};
  Ref code = Ref::steal(
      PyObject_CallMethod(module.get(), compiler.substr(colon + 1).c_str(), "ss", text.c_str(), name.c_str()));
  if (code && !PyCode_Check(code.get())) return PyErr_SetString(PyExc_TypeError, "the compiler gave no code"), Ref();
  return code;
}

/// False, with the exception in the answer, where running ended with one.
bool run(const std::string& text, const std::string& name, PyObject* names, ProgramAnswer& answer,
         const std::string& compiler = {}) {
  const Ref code = codeOf(text, name, compiler);
  const Ref done = code ? Ref::steal(PyEval_EvalCode(code.get(), names, names)) : Ref();
  if (!done) noteException(fetchedException(), name, answer);
  return bool(done);
}

/// Lines of the program for tracebacks and for inspect.getsource, which must not look for a file.
void rememberLines(const std::string& text, const std::string& name) {
  const Ref module = Ref::steal(PyImport_ImportModule("linecache"));
  const Ref cache = module ? attributeOf(module.get(), "cache") : Ref();
  const Ref source = makeText(text);
  const Ref lines = source ? Ref::steal(PyUnicode_Splitlines(source.get(), 1)) : Ref();
  if (cache && lines) {
    const Ref entry = Ref::steal(Py_BuildValue("(nOOs)", Py_ssize_t(text.size()), Py_None, lines.get(), name.c_str()));
    PyDict_SetItemString(cache.get(), name.c_str(), entry.get());
  }
  PyErr_Clear();
}

}  // namespace

Result<ProgramAnswer> executeProgram(const ProgramRequest& request, const EncodeAnswer& encode) {
  setProgramName(request.name);
  rememberLines(request.text, request.name);
  ProgramAnswer answer;
  PyObject* names = PyModule_GetDict(PyImport_AddModule("__main__"));  // borrowed, for good
  PyDict_SetItemString(names, "__file__", makeText(request.name).get());
  PyDict_SetItemString(names, "__builtins__", PyEval_GetBuiltins());
  if (!request.prologue.empty()) {
    const Ref own = Ref::steal(PyDict_New());
    PyDict_SetItemString(own.get(), "__builtins__", PyEval_GetBuiltins());
    if (!run(request.prologue, "<kerf prologue>", own.get(), answer)) return answer;
  }
  const bool finished = run(request.text, request.name, names, answer, request.compiler);
  if ((finished || request.driverAlways) && !request.driver.empty() &&
      run(request.driver, "<kerf driver>", names, answer)) {
    PyObject* bound = PyDict_GetItemString(names, "answer");
    if (bound != nullptr && encode) {
      KERF_TRY(answer.answer, encode(bound));
    }
  }
  answer.output = programOutput().text;
  answer.errors = programOutput().errors;
  answer.isOutputCut = programOutput().isCut;
  return answer;
}

}  // namespace kerf::inline python
