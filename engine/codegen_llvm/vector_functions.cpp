#include "engine/codegen_llvm/vector_functions.h"

#include <algorithm>
#include <vector>

#include <dlfcn.h>

#include "engine/codegen_llvm/target.h"

namespace kerf::inline codegen_llvm {

namespace {

struct Function {
  std::string_view name;
  int operands;
};
constexpr Function functions[] = {{"exp", 1},   {"exp2", 1}, {"expm1", 1}, {"log", 1},  {"log2", 1},  {"log10", 1},
                                  {"log1p", 1}, {"sin", 1},  {"cos", 1},   {"tan", 1},  {"asin", 1},  {"acos", 1},
                                  {"atan", 1},  {"sinh", 1}, {"cosh", 1},  {"tanh", 1}, {"asinh", 1}, {"acosh", 1},
                                  {"atanh", 1}, {"erf", 1},  {"erfc", 1},  {"pow", 2},  {"atan2", 2}, {"hypot", 2}};

struct VectorIsa {
  char letter;
  int floats;                ///< lanes of a register
  std::string_view feature;  ///< of LLVM's target text; empty: every x86-64 has it
};
constexpr VectorIsa isas[] = {{'e', 16, "+avx512f"}, {'d', 8, "+avx2"}, {'b', 4, ""}};

std::vector<VectorForm> findForms() {
  std::vector<VectorForm> forms;
  void* const library = ::dlopen("libmvec.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return forms;
  for (const auto& [letter, floats, feature] : isas) {
    if (!targetText().contains(feature)) continue;
    for (const auto& [name, operands] : functions)
      for (const bool isFloat : {true, false}) {
        VectorForm form{.scalar = std::string(name), .lanes = isFloat ? floats : floats / 2, .operands = operands};
        if (isFloat) form.scalar += 'f';
        form.symbol = fmt::format("_ZGV{}N{}{}_{}", letter, form.lanes, operands == 2 ? "vv" : "v", form.scalar);
        form.address = ::dlsym(library, form.symbol.c_str());
        if (form.address != nullptr) forms.push_back(std::move(form));
      }
  }
  std::ranges::stable_sort(forms, {}, &VectorForm::scalar);
  const auto narrower = std::ranges::unique(forms, {}, &VectorForm::scalar);  // the widest come first
  forms.erase(narrower.begin(), narrower.end());
  return forms;
}

}  // namespace

std::string VectorForm::mapping(int width, std::string_view function) const {
  return fmt::format("_ZGV_LLVM_N{}{}_{}({})", width, operands == 2 ? "vv" : "v", oneLane(), function);
}

std::span<const VectorForm> vectorForms() {
  static const std::vector<VectorForm> forms = findForms();
  return forms;
}

const VectorForm* vectorForm(std::string_view scalar) {
  const auto found = std::ranges::lower_bound(vectorForms(), scalar, {}, &VectorForm::scalar);
  return found != vectorForms().end() && found->scalar == scalar ? &*found : nullptr;
}

}  // namespace kerf::inline codegen_llvm
