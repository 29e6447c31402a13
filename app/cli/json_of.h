// jsonOf: the JSON of --json from a struct's one list of fields (KERF_FIELDS). A field's key is its name in snake_case;
// what is otherwise stands in the struct's jsonForm (json_forms.h):
//   {int startNodes; std::string repro;}  →  {"start_nodes": 5, "repro": ""}
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "app/cli/context.h"
#include "engine/support/fields.h"

namespace kerf::cli {

/// "max_abs_error" of "maxAbsError". A duration is given in milliseconds: "elapsed_ms" for "time".
std::string jsonKey(std::string_view field);

/// The fields of T that are not simply their name and value in JSON: made by forms().
template <class T>
inline constexpr auto jsonForm = std::tuple<>();

/// What an enum's values are called.
template <class Enum>
inline constexpr std::string_view (*jsonName)(Enum) = nullptr;

/// Numbers as number() has them, durations in milliseconds, null for empty optionals, an object for a list of pairs with
/// texts (the last one of a key counts), enums by their jsonName.
template <class T>
Json jsonOf(const T& value);

/// How one field is written.
template <class Class, class Member>
struct FieldForm {
  Member Class::* field;
  std::string_view key;          ///< empty: of its name
  Json (*write)(const Member&);  ///< null: jsonOf
  Json (*whole)(const Class&);   ///< null: the field alone says its value
  bool leftOut = false;
};
/// A value that is computed and stands behind a field.
template <class Class, class Member>
struct AddedForm {
  Member Class::* field;
  std::string_view key;
  Json (*whole)(const Class&);
};

template <class... Parts>
constexpr auto forms(Parts... parts) {
  return std::tuple_cat(parts...);
}
/// Under another key, and perhaps written in another way.
template <class Class, class Member>
constexpr auto named(Member Class::* field, std::string_view key,
                     std::type_identity_t<Json (*)(const Member&)> write = nullptr) {
  return std::tuple(FieldForm<Class, Member>{field, key, write, nullptr});
}
/// Fields of one type that are written in another way.
template <class Class, class Member, class... More>
constexpr auto written(std::type_identity_t<Json (*)(const Member&)> write, Member Class::* field, More... more) {
  return std::tuple(FieldForm<Class, Member>{field, {}, write, nullptr},
                    FieldForm<Class, Member>{more, {}, write, nullptr}...);
}
/// Said by several fields of the struct.
template <class Class, class Member>
constexpr auto writtenOf(Member Class::* field, std::string_view key,
                         std::type_identity_t<Json (*)(const Class&)> whole) {
  return std::tuple(FieldForm<Class, Member>{field, key, nullptr, whole});
}
template <class Class, class... Members>
constexpr auto leftOut(Members Class::*... fields) {
  return std::tuple(FieldForm<Class, Members>{fields, {}, nullptr, nullptr, true}...);
}
template <class Class, class Member>
constexpr auto addedBehind(Member Class::* field, std::string_view key,
                           std::type_identity_t<Json (*)(const Class&)> whole) {
  return std::tuple(AddedForm<Class, Member>{field, key, whole});
}

/// null below `least`: "not known" of numbers.
template <int least, class Number>
Json nullBelow(const Number& value) {
  return value < least ? Json() : Json(value);
}

// Implementation.

template <class T>
struct JsonShape {
  static constexpr bool isList = false, isObject = false, isDuration = false, isOptional = false;
};
template <class T>
struct JsonShape<std::vector<T>> : JsonShape<void> {
  static constexpr bool isList = true;
};
template <class T>
struct JsonShape<std::vector<std::pair<std::string, T>>> : JsonShape<void> {
  static constexpr bool isObject = true;
};
template <class Rep, class Period>
struct JsonShape<std::chrono::duration<Rep, Period>> : JsonShape<void> {
  static constexpr bool isDuration = true;
};
template <class T>
struct JsonShape<std::optional<T>> : JsonShape<void> {
  static constexpr bool isOptional = true;
};

/// Whether the form is of this field.
template <class Form, class Class, class Member>
bool isFormOf(const Form& form, const Class& object, const Member& field) {
  if constexpr (std::is_same_v<decltype(form.field), Member Class::*>)
    return &(object.*form.field) == &field;
  else
    return false;
}

template <class Class, class Member>
bool addFormed(Json& json, const FieldForm<Class, Member>& form, const Class& object, const char* name) {
  if (form.leftOut) return true;
  const Member& value = object.*form.field;
  json[form.key.empty() ? jsonKey(name) : std::string(form.key)] = form.whole != nullptr   ? form.whole(object)
                                                                   : form.write != nullptr ? form.write(value)
                                                                                           : jsonOf(value);
  return true;
}
template <class Class, class Member>
bool addFormed(Json&, const AddedForm<Class, Member>&, const Class&, const char*) {
  return false;
}
template <class Class, class Member>
void addBehind(Json&, const FieldForm<Class, Member>&, const Class&) {}
template <class Class, class Member>
void addBehind(Json& json, const AddedForm<Class, Member>& form, const Class& object) {
  json[std::string(form.key)] = form.whole(object);
}

template <class T>
Json objectOf(const T& object) {
  Json json = Json::object();
  T::eachField(object, [&](const char* name, const auto& field) {
    std::apply(
        [&](const auto&... form) {
          const bool formed = ((isFormOf(form, object, field) && addFormed(json, form, object, name)) || ...);
          if (!formed) json[jsonKey(name)] = jsonOf(field);
          ((isFormOf(form, object, field) ? addBehind(json, form, object) : void()), ...);
        },
        jsonForm<T>);
  });
  return json;
}

template <class T>
Json jsonOf(const T& value) {
  using Shape = JsonShape<T>;
  if constexpr (HasFields<T>) {
    return objectOf(value);
  } else if constexpr (Shape::isList) {
    Json list = Json::array();
    for (const auto& item : value) list.push_back(jsonOf(item));
    return list;
  } else if constexpr (Shape::isObject) {
    Json object = Json::object();
    for (const auto& [key, item] : value) object[key] = jsonOf(item);
    return object;
  } else if constexpr (Shape::isDuration) {
    return milliseconds(value);
  } else if constexpr (Shape::isOptional) {
    return value ? jsonOf(*value) : Json();
  } else if constexpr (std::is_enum_v<T>) {
    static_assert(jsonName<T> != nullptr, "the enum needs a jsonName");
    return jsonName<T>(value);
  } else if constexpr (std::is_floating_point_v<T>) {
    return number(value);
  } else {
    static_assert(std::is_integral_v<T> || std::is_same_v<T, std::string>, "the type needs KERF_FIELDS or a form");
    return value;
  }
}

}  // namespace kerf::cli
