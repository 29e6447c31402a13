#include "engine/dynamo/rank_agreement.h"

#include <vector>

#include "engine/distributed/agreement/compile_agreement.h"
#include "engine/dynamo/settings.h"
#include "engine/dynamo/tracer.h"

namespace kerf::inline dynamo {
namespace {

/// torch.distributed, where the program has imported it. Borrowed.
PyObject* distributedOfProgram() {
  return PyDict_GetItemString(PyImport_GetModuleDict(), "torch.distributed.distributed_c10d");
}

/// The texts of all ranks, by rank.
Result<std::vector<std::string>> textsOfRanks(const std::string& own) {
  const Ref list =
      Ref::steal(PyObject_CallMethod(distributedOfProgram(), "_compiler_states", "O", makeText(own).get()));
  if (!list) return fail(pendingError());
  const Ref items = Ref::steal(PySequence_Fast(list.get(), "states of ranks are a list"));
  if (!items) return fail(pendingError());
  std::vector<std::string> texts;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.get()); ++i)
    texts.push_back(textOf(PySequence_Fast_GET_ITEM(items.get(), i)));
  return texts;
}

Result<agreement::FrameState> agreedOfRanks(const std::string& own) {
  KERF_TRY(const std::vector<std::string> texts, textsOfRanks(own));
  std::vector<agreement::FrameState> states;
  for (const std::string& text : texts) {
    KERF_TRY(agreement::FrameState state, agreement::parseFrameState(text));
    states.push_back(std::move(state));
  }
  return agreement::agreedState(states);
}

}  // namespace

bool agreesWithRanks() {
  PyObject* const module = distributedOfProgram();
  if (module == nullptr || dynamoSetting("enable_compiler_collectives", 0) == 0) return false;
  const NativeScope native;
  const Ref several = Ref::steal(PyObject_CallMethod(module, "_has_several_ranks", nullptr));
  PyErr_Clear();
  return several.get() == Py_True;
}

bool agreeWithRanks(FrameState& seen, const std::string& decision) {
  const NativeScope native;
  agreement::FrameState own = seen.told();
  own["the end of the graph"].scalar = agreement::AgreedNumber{decision, false};
  const auto agreed = agreedOfRanks(agreement::frameStateText(own));
  if (!agreed) return raise(agreed.error()) != nullptr;
  seen.follow(*agreed);
  return true;
}

}  // namespace kerf::inline dynamo
