// InputFiller: data for the inputs of one graph that have none. Private to engine/capture.
#pragma once

#include <map>
#include <vector>

#include "engine/capture/common/input_origin.h"
#include "engine/capture/plausible/list_places.h"
#include "engine/capture/plausible/value_need.h"
#include "engine/ir/graph_module.h"
#include "engine/tensor/tensor.h"

namespace kerf::inline capture {

class InputFiller {
 public:
  /// An input that sees a storage: which placeholder, and how it lies in it.
  struct View {
    std::size_t placeholder = 0;
    Tensor tensor;
  };

  /// `module` has the sizes of its placeholders as metadata; those of the other nodes are found here.
  InputFiller(const GraphModule& module, InputFill fill, std::uint64_t seed);

  /// Fills one storage that all `views` see, for InputFill::Random by `hint` and with the seed plus `index`.
  void fill(const StoragePtr& storage, const std::vector<View>& views, DType hint, std::uint64_t index);
  /// Why a generated input is as it is.
  std::string why(std::size_t placeholder, DType dtype);

 private:
  const ValueNeed& needOf(std::size_t placeholder);
  void fillPlausible(const std::vector<View>& views);
  const std::string& nameOf(std::size_t placeholder) const;

  GraphModule m_module;
  bool m_shaped = false;
  std::vector<NodeId> m_placeholders;
  InputFill m_fill;
  std::uint64_t m_seed;
  std::map<std::size_t, ValueNeed> m_needs;
  ListPlaces m_lists;
};

}  // namespace kerf::inline capture
