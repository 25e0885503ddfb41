// SPDX-License-Identifier: BSD-3-Clause
// The arrays of counts and displacements, and the types, of a call that may be initiated in the
// host MPI later. They are the program's. A host MPI reads them before the program's call returns,
// and programs count on it (mpi4py frees arrays then), so a call that is put off has its own.
#pragma once

#include <array>
#include <bitset>
#include <memory>
#include <new>
#include <tuple>
#include <vector>

#include "coll/deferred_call.hpp"
#include "coll/exchange/arguments.hpp"
#include "datatype/datatype.hpp"

namespace telpher::coll::exchange {

template <class... Type>
std::array<MPI_Datatype, sizeof...(Type)> types(Type... of) noexcept {
  return {of...};
}

/// Types of a call, and duplicates of those that the program may free. A reduction of such is by
/// the program's own function, which is given the type, and may ask for its attributes.
template <std::size_t n>
class own_types {
 public:
  /// Throws std::bad_alloc where a type cannot be duplicated.
  own_types(const std::array<MPI_Datatype, n>& of, bool with_attributes) : types_(of) {
    for (std::size_t i = 0; i < types_.size(); ++i) {
      if (!is_the_programs(of[i])) continue;
      types_[i] = duplicate(of[i], with_attributes);
      if (types_[i] == MPI_DATATYPE_NULL) {
        free();
        throw std::bad_alloc();
      }
      duplicated_[i] = true;
    }
  }
  own_types(const own_types&) = delete;
  own_types& operator=(const own_types&) = delete;
  ~own_types() { free(); }

  const std::array<MPI_Datatype, n>& get() const noexcept { return types_; }

 private:
  /// In place the type of the other side may be anything.
  static bool is_the_programs(MPI_Datatype type) noexcept {
    const auto found = datatype::layout_of(type);
    return found && !(*found)->predefined;
  }
  static MPI_Datatype duplicate(MPI_Datatype type, bool with_attributes) noexcept {
    if (!with_attributes) return datatype::duplicate_of(type, ticket::job().control);
    MPI_Datatype made = MPI_DATATYPE_NULL;
    return pmpi::Type_dup(type, &made) == MPI_SUCCESS ? made : MPI_DATATYPE_NULL;
  }
  void free() noexcept {
    for (std::size_t i = 0; i < types_.size(); ++i)
      if (duplicated_[i]) pmpi::Type_free(&types_[i]);
  }

  std::array<MPI_Datatype, n> types_;
  std::bitset<n> duplicated_;
};

/// `Form` is int(MPI_Datatype..., const Element*..., MPI_Comm, MPI_Request*), with `n` types.
template <class Form, std::size_t n, class... Element>
class with_own {
 public:
  with_own(const Form& form, const std::array<MPI_Datatype, n>& types,
           const Element*... arrays) noexcept
      : form_(form), types_(types), arrays_(arrays...) {}

  int operator()(MPI_Comm on, MPI_Request* made) const {
    return std::apply(form_, std::tuple_cat(types_, arrays_, std::tuple(on, made)));
  }

  /// The same with duplicates of the types, and copies of the arrays that the call `a` reads at
  /// this rank; the addresses of others may be invalid. May throw std::bad_alloc.
  host_form kept(const arguments& a) const {
    const std::size_t ranks = a.arrays_count() ? static_cast<std::size_t>(a.ranks) : 0;
    const bool first_half = a.send_arrays_count();
    std::size_t index = 0;
    const auto copy = [&]<class T>(const T* from) {
      const bool counts = first_half || index >= sizeof...(Element) / 2;
      ++index;
      return counts ? std::vector<T>(from, from + ranks) : std::vector<T>();
    };
    // Braces evaluate from left to right.
    std::tuple<std::vector<Element>...> copies{std::apply(
        [&](const Element*... from) { return std::tuple<std::vector<Element>...>{copy(from)...}; },
        arrays_)};
    std::shared_ptr<const own_types<n>> types;
    if (!a.lasting) types = std::make_shared<const own_types<n>>(types_, is_reduction(a.what));
    return [form = form_, given = types_, types = std::move(types), copies = std::move(copies)](
               MPI_Comm on, MPI_Request* made) {
      const auto arrays =
          std::apply([](const auto&... own) { return std::tuple(own.data()...); }, copies);
      return std::apply(form,
                        std::tuple_cat(types ? types->get() : given, arrays, std::tuple(on, made)));
    };
  }

 private:
  Form form_;
  std::array<MPI_Datatype, n> types_;
  std::tuple<const Element*...> arrays_;
};

/// The same initiation, to be called after the program's call has returned.
template <class Form, std::size_t n, class... Element>
host_form kept(const with_own<Form, n, Element...>& form, const arguments& a) {
  return form.kept(a);
}
template <class Form>
host_form kept(const Form& form, const arguments&) {
  return form;
}

}  // namespace telpher::coll::exchange
