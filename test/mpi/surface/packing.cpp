// SPDX-License-Identifier: BSD-3-Clause
// Steps of one rank: MPI_Pack, MPI_Unpack, their external forms, and MPI_Reduce_local.
#include "program.hpp"

#include <algorithm>

namespace surface {

namespace {

char external[] = "external32";

std::unique_ptr<step> make_pack(world& w, draw& d, bool unpacks) {
  auto made = std::make_unique<step>(w.s);
  const bool canonical = d.mine.chance(30);
  allow_structs(!canonical || !w.s.mpich);  // MPICH's MPI_Pack_external ends at a struct
  const MPI_Datatype basic = basic_type(d.mine);
  const elements e = made->types.draw(d.mine, basic, 1 + element_count(d.mine, basic));
  allow_structs(true);
  const placing where(d.shared);
  span typed;
  typed.add(e);
  const std::size_t before = d.mine.below(40);
  const std::size_t bytes =
      before + static_cast<std::size_t>(e.count) * size_of(e.type) + d.mine.below(20);
  made->add_area(typed, where.of(w.s.rank, 0), d.mine.next());
  made->add_area({0, static_cast<MPI_Aint>(bytes)}, where.of(w.s.rank, 1), d.mine.next());
  made->what = std::string(unpacks ? "Unpack" : "Pack") + (canonical ? "_external, " : ", ") +
               std::to_string(bytes) + " bytes, " + name(made->areas[0].where) + " and " +
               name(made->areas[1].where);
  made->model = made->call = [=](running& r) {
    int position = as_int(before);
    MPI_Aint place = position;
    const int size = as_int(bytes);
    const std::size_t held = static_cast<std::size_t>(e.count) * size_of(e.type);
    if (canonical && unpacks)
      MPI_Unpack_external(external, r.at[1], size, &place, r.at[0], e.count, e.type);
    else if (canonical)
      MPI_Pack_external(external, r.at[0], e.count, e.type, r.at[1], size, &place);
    else if (r.model && unpacks)
      plain::unpack(r.at[1] + before, held, r.at[0], e.count, e.type);
    else if (r.model)
      std::ranges::copy(plain::packed(r.at[0], e.count, e.type), r.at[1] + before);
    else if (unpacks)
      MPI_Unpack(r.at[1], size, &position, r.at[0], e.count, e.type, MPI_COMM_WORLD);
    else
      MPI_Pack(r.at[0], e.count, e.type, r.at[1], size, &position, MPI_COMM_WORLD);
  };
  return made;
}

std::unique_ptr<step> make_reduce_local(world& w, draw& d) {
  auto made = std::make_unique<step>(w.s);
  const MPI_Op ops[] = {MPI_SUM, MPI_MAX, MPI_BXOR, MPI_LAND};
  const MPI_Datatype types[] = {MPI_INT, MPI_LONG_LONG, MPI_UNSIGNED_LONG};
  const MPI_Op op = ops[d.mine.below(4)];
  const MPI_Datatype type = types[d.mine.below(3)];
  const elements e{type, element_count(d.mine, type)};
  const placing where(d.shared);
  span s;
  s.add(e);
  made->add_area(s, where.of(w.s.rank, 0), d.mine.next());
  made->add_area(s, where.of(w.s.rank, 1), d.mine.next());
  made->what = "Reduce_local, " + std::to_string(e.count) + " elements, " +
               name(made->areas[0].where) + " into " + name(made->areas[1].where);
  made->model =
      made->call = [=](running& r) { MPI_Reduce_local(r.at[0], r.at[1], e.count, e.type, op); };
  return made;
}

}  // namespace

std::unique_ptr<step> make_packing(world& w, draw& d, form) {
  const std::size_t sort = d.mine.below(5);
  return sort == 0 ? make_reduce_local(w, d) : make_pack(w, d, sort > 2);
}

}  // namespace surface
