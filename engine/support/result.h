// Result<T>: a value or an Error; the return type of everything that can fail.
#pragma once

#include <expected>
#include <utility>

#include <fmt/format.h>

#include "engine/support/error.h"

namespace kerf::inline support {

template <class T>
using Result = std::expected<T, Error>;

/// `return fail(ErrorCode::BadInput, "expected {} but got {}", a, b);`
template <class... Args>
[[nodiscard]] std::unexpected<Error> fail(ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
  return std::unexpected(formatError(code, format, fmt::make_format_args(args...)));
}

/// With what the user can do about it: `return fail(ErrorCode::NotFound, Hint{Advice::ListIds}, "there is no {}", id);`
template <class... Args>
[[nodiscard]] std::unexpected<Error> fail(ErrorCode code, Hint hint, fmt::format_string<Args...> format,
                                          Args&&... args) {
  Error error = formatError(code, format, fmt::make_format_args(args...));
  error.hint = std::move(hint);
  return std::unexpected(std::move(error));
}

[[nodiscard]] inline std::unexpected<Error> fail(Error error) { return std::unexpected(std::move(error)); }

}  // namespace kerf::inline support

#define KERF_CONCAT_INNER(a, b) a##b
#define KERF_CONCAT(a, b) KERF_CONCAT_INNER(a, b)

/// `KERF_TRY(auto graph, parse(text));` declares `graph`, or returns the error.
#define KERF_TRY(declaration, expression) KERF_TRY_IMPL(KERF_CONCAT(kerfResult, __LINE__), declaration, expression)
#define KERF_TRY_IMPL(temporary, declaration, expression)               \
  auto temporary = (expression);                                        \
  if (!temporary) return std::unexpected(std::move(temporary).error()); \
  declaration = std::move(*temporary)

/// `KERF_CHECK(write(file));` returns the error of a Result whose value is not needed.
#define KERF_CHECK(expression)                                                \
  do {                                                                        \
    auto kerfChecked = (expression);                                          \
    if (!kerfChecked) return std::unexpected(std::move(kerfChecked).error()); \
  } while (false)
