#include "engine/torch_api/compile_hook.h"

namespace kerf::inline torch_api {
namespace {

std::vector<SubModule>& registered() {
  static std::vector<SubModule> modules;
  return modules;
}

}  // namespace

void addSubModule(SubModule module) { registered().push_back(module); }
const std::vector<SubModule>& subModules() { return registered(); }

}  // namespace kerf::inline torch_api
