// SPDX-License-Identifier: BSD-3-Clause
// The arrays of counts and displacements of a call that may be initiated in the host MPI later.
// They are the program's. A host MPI reads them before the program's call returns, and programs
// count on it (mpi4py frees them then), so a call that is put off copies them.
#pragma once

#include <tuple>
#include <vector>

#include "coll/deferred_call.hpp"
#include "coll/exchange/arguments.hpp"

namespace telpher::coll::exchange {

/// `Form` is int(const Element*..., MPI_Comm, MPI_Request*).
template <class Form, class... Element>
class with_arrays {
 public:
  with_arrays(const Form& form, const Element*... arrays) noexcept
      : form_(form), arrays_(arrays...) {}

  int operator()(MPI_Comm on, MPI_Request* made) const {
    return std::apply([&](const Element*... at) { return form_(at..., on, made); }, arrays_);
  }

  /// The same with copies of the arrays that the call `a` reads at this rank; the addresses of
  /// others may be invalid. May throw std::bad_alloc.
  host_form kept(const arguments& a) const {
    const std::size_t n = a.arrays_count() ? static_cast<std::size_t>(a.ranks) : 0;
    const bool first_half = a.send_arrays_count();
    std::size_t index = 0;
    const auto copy = [&]<class T>(const T* from) {
      const bool counts = first_half || index >= sizeof...(Element) / 2;
      ++index;
      return counts ? std::vector<T>(from, from + n) : std::vector<T>();
    };
    // Braces evaluate from left to right.
    std::tuple<std::vector<Element>...> copies{std::apply(
        [&](const Element*... from) { return std::tuple<std::vector<Element>...>{copy(from)...}; },
        arrays_)};
    return [form = form_, copies = std::move(copies)](MPI_Comm on, MPI_Request* made) {
      return std::apply([&](const auto&... own) { return form(own.data()..., on, made); }, copies);
    };
  }

 private:
  Form form_;
  std::tuple<const Element*...> arrays_;
};

/// The same initiation, to be called after the program's call has returned.
template <class Form, class... Element>
host_form kept(const with_arrays<Form, Element...>& form, const arguments& a) {
  return form.kept(a);
}
template <class Form>
host_form kept(const Form& form, const arguments&) {
  return form;
}

}  // namespace telpher::coll::exchange
