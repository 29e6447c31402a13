#include <array>
#include <span>

#include "engine/dynamo/handlers.h"

namespace kerf::inline dynamo {

std::span<const OpHandlerRow> stackHandlers();
std::span<const OpHandlerRow> operatorHandlers();
std::span<const OpHandlerRow> containerHandlers();
std::span<const OpHandlerRow> jumpHandlers();
std::span<const OpHandlerRow> callHandlers();
std::span<const OpHandlerRow> exceptionHandlers();
std::span<const OpHandlerRow> matchHandlers();

OpHandler handlerOf(Op op) {
  static const std::array<OpHandler, 256> table = [] {
    std::array<OpHandler, 256> made{};
    for (const auto rows : {stackHandlers(), operatorHandlers(), containerHandlers(), jumpHandlers(), callHandlers(),
                            exceptionHandlers(), matchHandlers()})
      for (const OpHandlerRow& row : rows) made[static_cast<std::size_t>(row.op)] = row.handle;
    return made;
  }();
  return table[static_cast<std::size_t>(op)];
}

}  // namespace kerf::inline dynamo
