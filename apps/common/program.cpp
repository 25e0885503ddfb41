// SPDX-License-Identifier: BSD-3-Clause
#include "common/program.hpp"

#include <cstdio>
#include <exception>
#include <stdexcept>

namespace apps {

int run_program(int argc, char** argv, const char* usage, int (*body)(options&)) {
  MPI_Init(&argc, &argv);
  int failed = 0;
  try {
    options o(argc, argv, usage);
    if (o.flag("--help")) {
      if (world_rank() == 0) std::fputs(usage, stdout);
    } else {
      failed = total(body(o)) != 0;
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "rank %d: %s\n", world_rank(), e.what());
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  MPI_Finalize();
  return failed;
}

int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int world_size() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

double largest(double mine) {
  double all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return all;
}

long total(long mine) {
  long all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

row& row::add(const std::string& name, const std::string& text) {
  values_.emplace_back(name, "\"" + text + "\"");
  return *this;
}

row& row::add(const std::string& name, double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  values_.emplace_back(name, text);
  return *this;
}

row& row::add(const std::string& name, long value) {
  values_.emplace_back(name, std::to_string(value));
  return *this;
}

std::string row::text() const {
  std::string all;
  for (const auto& [name, value] : values_)
    all += (all.empty() ? "{\"" : ", \"") + name + "\": " + value;
  return all + "}";
}

void write_rows(const std::string& file, const std::vector<row>& rows) {
  if (file.empty() || world_rank() != 0) return;
  std::FILE* out = std::fopen(file.c_str(), "w");
  if (!out) throw std::runtime_error("cannot write " + file);
  std::fputs("{\"rows\": [\n", out);
  for (std::size_t i = 0; i < rows.size(); ++i)
    std::fprintf(out, "%s%s\n", rows[i].text().c_str(), i + 1 < rows.size() ? "," : "");
  std::fputs("]}\n", out);
  std::fclose(out);
}

}  // namespace apps
