// KernelModel: a generated kernel as what it reads and writes, in the order of its statements.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/audit/kernels/index_terms.h"
#include "engine/audit/syntax/syntax_node.h"

namespace kerf::inline audit {

struct KernelParameter {
  std::string name;
  std::string type;  ///< of a pointer what it points to, of others their own: "float32", "int64"
  bool isPointer = false;
  bool isConst = false;      ///< of a pointer: what it points to must not be written
  bool isConstexpr = false;  ///< not given by calls
};

/// One axis of the iterations: a loop, the programs of a grid, or the lanes of a vector.
struct KernelVariable {
  enum class Kind {
    Parallel,  ///< iterations may run at the same time
    Sequential,
    Lane,  ///< of one statement, at the same time
  };
  std::string name;
  Kind kind = Kind::Sequential;
  TermId begin = noTerm, end = noTerm;  ///< values are begin, begin + step, … below end
  std::int64_t step = 1;
  std::int64_t block = 1;  ///< without a mask `end` is rounded up to a multiple of it
  int scope = 0;           ///< which loop it belongs to: two loops after each other have different ones
};

struct KernelAccess {
  enum class Kind { Load, Store, Atomic };
  Kind kind = Kind::Load;
  int parameter = -1;
  TermId index = noTerm;   ///< in elements; noTerm: not known
  TermId mask = noTerm;    ///< when it happens; noTerm: there is no condition, or none that is known
  int line = 0;            ///< in the kernel's text
  int nest = 0;            ///< of C++: which of the loop nests after each other
  std::vector<int> loops;  ///< variables of the loops around; empty for Triton: those that the terms use
  std::string valueType;   ///< of a store: the type of the value, where it is known
  std::string indexType;   ///< in which the index is computed, where it is known
};

/// What the reader itself decides: about masks of reductions, accumulators, counts.
struct KernelRemark {
  enum class About { Mask, Accumulator, Atomic, Parameters, Range };
  About about = About::Mask;
  bool holds = true;
  int line = 0;
  std::string text;    ///< why not
  int parameter = -1;  ///< that nothing is read through, unless the call gives its buffer twice
};

struct KernelModel {
  std::string name;
  enum class Language { Cpp, Triton } language = Language::Cpp;
  int line = 0;       ///< of the definition, in the program
  int firstLine = 0;  ///< of the program: the line before the first of the kernel's text
  std::vector<KernelParameter> parameters;
  std::vector<KernelVariable> variables;
  std::vector<KernelAccess> accesses;
  std::vector<KernelRemark> remarks;
  std::string opaque;  ///< why its accesses are not known; empty: they are
  IndexTerms terms;
  /// Ranges that assertions of the kernel give terms: from (included) and to (not).
  std::map<TermId, std::pair<TermId, TermId>> asserted;
  /// Sizes that the kernel fixes itself: parameter and value ("xnumel = 128").
  std::map<int, std::int64_t> fixedSizes;

  int find(std::string_view parameter) const;
  bool isUsed(int parameter) const;
};

/// "torch.float32", "tl.float32", "fp32", "float", "*fp32" → "float32"; empty for anything else.
std::string elementType(std::string_view name);
/// Bytes of an element type; 0 if it is not known.
int elementBytes(std::string_view type);
bool isFloatType(std::string_view type);

/// Whether a kernel of that name adds at places that data gives, if it stores at such places at all.
bool addsByName(std::string_view kernel);

/// Reads `async_compile.triton('name', '''…''')` and `async_compile.cpp_pybinding([…], r'''…''')`.
KernelModel readTritonKernel(std::string name, std::string_view text);
KernelModel readCppKernel(std::string name, std::string_view text);

}  // namespace kerf::inline audit
