#include "engine/dynamo/written_code.h"

#include <map>

#include "engine/dynamo/bytecode.h"

namespace kerf::inline dynamo {
namespace {

std::map<PyObject*, WrittenCode>& writtenCodes() {
  static std::map<PyObject*, WrittenCode> codes;
  return codes;
}

}  // namespace

WrittenCode writtenCode(PyCodeObject* code) {
  const auto found = writtenCodes().find(reinterpret_cast<PyObject*>(code));
  return found == writtenCodes().end() ? WrittenCode{.code = code} : found->second;
}

void noteResume(const Ref& resume, PyCodeObject* frame, std::size_t frameInstructions, bool isAgreed) {
  if (!resume || writtenCodes().contains(resume.get())) return;
  const auto all = decode(reinterpret_cast<PyCodeObject*>(resume.get())).instructions.size();
  const WrittenCode before = writtenCode(frame);
  writtenCodes()[resume.get()] = {before.code, before.shift + static_cast<int>(all - frameInstructions), isAgreed};
}

}  // namespace kerf::inline dynamo
