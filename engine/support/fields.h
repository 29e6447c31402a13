// KERF_FIELDS: names a plain struct's fields once, so that codecs (and whoever else) can visit them.
#pragma once

#include <concepts>
#include <utility>

namespace kerf::inline support {

/// Visitor for the check below only.
struct AnyField {
  void operator()(const char*, auto&&) const {}
};

/// A struct that lists its fields with KERF_FIELDS.
template <class T>
concept HasFields = requires(const T& value) { T::eachField(value, AnyField()); };

}  // namespace kerf::inline support

/// Inside `struct Point { int x = 0, y = 0; KERF_FIELDS(x, y) };`: Point::eachField(point, visit) calls
/// visit("x", point.x) and visit("y", point.y), in this order; fields are const where the point is. Qt's moc, which needs
/// no fields, would take seconds for the macros of each header that it reads.
#ifdef Q_MOC_RUN
#define KERF_FIELDS(...)
#else
#define KERF_FIELDS(...)                                              \
  template <class Self, class Visit>                                  \
  static void eachField([[maybe_unused]] Self& self, Visit&& visit) { \
    KERF_EACH(KERF_VISIT_FIELD, __VA_ARGS__)                          \
    static_cast<void>(visit);                                         \
  }
#endif
#define KERF_VISIT_FIELD(name) visit(#name, self.name);

// KERF_EACH(macro, a, b, …) is macro(a) macro(b) …, for up to 300 arguments.
#define KERF_EACH(macro, ...) __VA_OPT__(KERF_EXPAND(KERF_EACH_STEP(macro, __VA_ARGS__)))
#define KERF_EACH_STEP(macro, first, ...) macro(first) __VA_OPT__(KERF_EACH_AGAIN KERF_PARENTHESES(macro, __VA_ARGS__))
#define KERF_EACH_AGAIN() KERF_EACH_STEP
#define KERF_PARENTHESES ()
#define KERF_EXPAND(...) KERF_EXPAND4(KERF_EXPAND4(KERF_EXPAND4(KERF_EXPAND4(__VA_ARGS__))))
#define KERF_EXPAND4(...) KERF_EXPAND3(KERF_EXPAND3(KERF_EXPAND3(KERF_EXPAND3(__VA_ARGS__))))
#define KERF_EXPAND3(...) KERF_EXPAND2(KERF_EXPAND2(KERF_EXPAND2(KERF_EXPAND2(__VA_ARGS__))))
#define KERF_EXPAND2(...) KERF_EXPAND1(KERF_EXPAND1(KERF_EXPAND1(KERF_EXPAND1(__VA_ARGS__))))
#define KERF_EXPAND1(...) __VA_ARGS__
