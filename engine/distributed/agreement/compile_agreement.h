// The compiler collective: before ranks compile a frame they tell each other the sizes, strides and scalars of its inputs,
// and what is not the same on all becomes symbolic on all.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/distributed/group/communicator.h"

namespace kerf::inline distributed::inline agreement {

/// A size, stride or scalar: "4", "S(1)" (the stride that follows from dimension 1), or dynamic.
struct AgreedNumber {
  std::string text;
  bool isDynamic = false;
  bool operator==(const AgreedNumber&) const = default;
};

/// One input of a frame, as the rank saw it.
struct InputState {
  std::optional<AgreedNumber> scalar;
  std::optional<std::vector<AgreedNumber>> sizes, strides;  ///< none where ranks have other numbers of dimensions
  bool isTensor = false;
};

/// By source: "L['x']".
using FrameState = std::map<std::string, InputState>;

/// Lines such as "L['x']: tensor size=[4, 4] stride=[S(1), 1]" and "L['n']: scalar 5". BadInput for others.
Result<FrameState> parseFrameState(const std::string& text);
std::string frameStateText(const FrameState& state);

/// What all ranks compile with: numbers that differ are dynamic; an input that only some ranks have is as they have it.
FrameState agreedState(const std::vector<FrameState>& ranks);
/// The same between ranks that run: one all_gather_object. An error names the ranks that did not come.
Result<FrameState> agreeOn(Communicator& ranks, const Group& group, const FrameState& own);

}  // namespace kerf::inline distributed::inline agreement
