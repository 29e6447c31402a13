// What the names in a torch.save pickle stand for, as far as they describe tensors. Private to the pickle reader.
#pragma once

#include <optional>
#include <string_view>

#include "engine/capture/pt2/pickle.h"

namespace kerf::inline capture::pt2 {

/// Whether a pickle may mention "module.name": one of the few that describe tensors and containers.
bool isKnownPickleName(std::string_view name);

/// Interprets "name(*args)" as data: tensors are described, containers made. `args` is the index of its tuple. BadInput
/// for names that cannot be called and for arguments that do not fit.
Result<PickleValue> rebuildValue(Pickle& pickle, std::string_view name, std::uint32_t args);

/// ('storage', torch.FloatStorage, '0', 'cpu', 64) → a Storage.
Result<PickleValue> storageValue(Pickle& pickle, std::uint32_t id);

}  // namespace kerf::inline capture::pt2
