// vectorForms: elementary functions over whole vector registers, for loops that LLVM vectorises.
//
//   tanhf(x[i]) in a loop      →      _ZGVdN8v_tanhf over 8 elements, tanhf for those left over
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace kerf::inline codegen_llvm {

/// A function of glibc's libmvec (errors up to 4 units in the last place; NaN, infinities, zeros and subnormals as the
/// scalar function gives them).
struct VectorForm {
  std::string scalar;  ///< "tanhf", "tanh"
  std::string symbol;  ///< by the x86 vector function ABI: "_ZGVdN8v_tanhf"
  int lanes = 0;
  int operands = 1;
  void* address = nullptr;

  /// What calls it with one value in all lanes, "kerf_tanhf": vectors and what is left of a loop get the same bits.
  std::string oneLane() const { return "kerf_" + scalar; }
  /// As LLVM's attribute vector-function-abi-variant wants it: "_ZGV_LLVM_N8v_kerf_tanhf(_ZGVdN8v_tanhf)".
  std::string mapping(int width, std::string_view function) const;
};

/// The widest of each function that this processor and its C library have; by scalar function. Forms of other widths
/// differ from it by a unit in the last place. Empty where there is no libmvec.
std::span<const VectorForm> vectorForms();
/// That of one function, or nullptr.
const VectorForm* vectorForm(std::string_view scalar);

}  // namespace kerf::inline codegen_llvm
