// FrameState: what earlier compilations of a code object saw of its inputs; what differs becomes a symbol the next time.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/distributed/agreement/compile_agreement.h"
#include "engine/python/reference.h"
#include "engine/symbolic/sym_sizes.h"

namespace kerf::inline dynamo {

class FrameState {
 public:
  /// Which sizes of the tensor at `source` have differed, with these among what was seen.
  std::vector<bool> meetSizes(const std::string& source, const Sizes& sizes);
  /// Whether the number at `source` has differed.
  bool meetNumber(const std::string& source, PyObject* number);

  /// What was seen, as ranks tell it each other.
  agreement::FrameState told() const;
  /// Takes over what ranks agreed on: what is dynamic there has differed. Inputs that this rank has not seen are left out.
  void follow(const agreement::FrameState& agreed);

 private:
  struct SeenTensor {
    std::vector<std::optional<std::int64_t>> sizes;  ///< none: they differed
    bool ranksDiffer = false;
  };
  struct SeenNumber {
    Ref value;
    bool differs = false;
  };
  std::map<std::string, SeenTensor> m_tensors;
  std::map<std::string, SeenNumber> m_numbers;
};

}  // namespace kerf::inline dynamo
