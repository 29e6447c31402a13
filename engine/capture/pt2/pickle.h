// readPickle: the tensors and plain containers of a pickle as data. Nothing is ever imported, called or built.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/tensor/tensor.h"

namespace kerf::inline capture::pt2 {

struct PickledTensor {
  DType dtype = DType::Float32;
  Sizes sizes, strides;
  std::int64_t offset = 0;  ///< in elements
  bool requiresGrad = false;
  bool isParameter = false;
  std::string storageKey;         ///< member below data/
  std::int64_t storageBytes = 0;  ///< as the pickle says
  Device device;                  ///< where it lived when it was saved
};

/// One value. Values refer to each other by index, so that shared and even circular ones cost and harm nothing.
struct PickleValue {
  enum class Kind : std::uint8_t {
    None,
    Bool,
    Int,
    Float,
    String,
    Bytes,
    List,
    Tuple,
    Dict,
    Name,
    Storage,
    Tensor,
    Mark
  };
  Kind kind = Kind::None;
  std::int64_t integer = 0;               ///< Bool, Int; Storage and Tensor: index in Pickle::tensors
  double real = 0;                        ///< Float
  std::string text = {};                  ///< String, Bytes, Name ("torch.FloatStorage")
  std::vector<std::uint32_t> items = {};  ///< List, Tuple; Dict: key, value, key, value, …
};

struct Pickle {
  std::vector<PickleValue> values;
  std::vector<PickledTensor> tensors;
  std::uint32_t root = 0;
};

/// Understands protocols 0 to 5 as far as torch.save uses them for tensors in tuples, lists and dicts: names of torch's
/// storages and dtypes, OrderedDict, torch.Size, torch.device and the three functions that rebuild tensors. Everything
/// else, any other name above all, is BadInput that names it. TooLarge beyond `maxValues` values, also where one is
/// repeated as often.
Result<Pickle> readPickle(std::span<const std::byte> bytes, std::size_t maxValues);

}  // namespace kerf::inline capture::pt2
