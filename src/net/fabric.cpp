// SPDX-License-Identifier: BSD-3-Clause
#include "net/fabric.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/log.hpp"
#include "net/libfabric.hpp"

namespace telpher::net {
namespace {

// The registration modes that we support; the provider returns those that it requires.
constexpr int registration_modes =
    FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT | FI_MR_HMEM;

struct closer {
  template <class F>
  void operator()(F* object) const noexcept {
    if (object) ::fi_close(&object->fid);
  }
};
template <class F>
using owned = std::unique_ptr<F, closer>;

fi_hmem_iface interface_of(device::vendor v) noexcept {
  switch (v) {
    case device::vendor::cuda:
      return FI_HMEM_CUDA;
    case device::vendor::hip:
      return FI_HMEM_ROCR;
    case device::vendor::sycl:
      return FI_HMEM_ZE;
    default:
      return FI_HMEM_SYSTEM;
  }
}

class enrolled final : public registration {
 public:
  enrolled(owned<fid_mr> mr, std::byte* begin, bool by_address) noexcept
      : mr_(std::move(mr)), begin_(begin), by_address_(by_address) {}
  remote_memory name(const void* p) const noexcept override {
    const auto at = reinterpret_cast<std::uintptr_t>(p);
    return {by_address_ ? at : at - reinterpret_cast<std::uintptr_t>(begin_),
            ::fi_mr_key(mr_.get())};
  }
  void* descriptor() const noexcept override { return ::fi_mr_desc(mr_.get()); }

 private:
  owned<fid_mr> mr_;
  std::byte* begin_;
  bool by_address_;
};

class endpoint final : public fabric {
 public:
  explicit endpoint(const libfabric& lib) noexcept : lib_(lib) {}
  ~endpoint() override {
    ep_.reset();  // before the objects that it is bound to
    if (info_) lib_.freeinfo(info_);
  }

  status start(const char* provider) noexcept;

  const char* provider() const noexcept override { return info_->fabric_attr->prov_name; }
  const address& own() const noexcept override { return own_; }
  status connect(const std::vector<address>& peers) noexcept override;
  bool reaches(int peer) const noexcept override {
    return static_cast<std::size_t>(peer) < peers_.size() &&
           peers_[static_cast<std::size_t>(peer)] != FI_ADDR_NOTAVAIL;
  }
  bool registers(device::vendor owner) const noexcept override {
    return (info_->caps & FI_HMEM) != 0 && interface_of(owner) != FI_HMEM_SYSTEM;
  }
  result<std::unique_ptr<registration>> enrol(void* begin, std::size_t bytes, device::vendor owner,
                                              int device) noexcept override;
  std::size_t largest() const noexcept override { return info_->ep_attr->max_msg_size; }
  status read(int peer, const remote_memory& from, void* to, std::size_t bytes,
              const registration& local, transfer_mark& mark) noexcept override {
    return started(
        ::fi_read(ep_.get(), to, bytes, local.descriptor(), at(peer), from.at, from.key, &mark));
  }
  status write(int peer, const remote_memory& to, const void* from, std::size_t bytes,
               const registration& local, transfer_mark& mark) noexcept override {
    return started(
        ::fi_write(ep_.get(), from, bytes, local.descriptor(), at(peer), to.at, to.key, &mark));
  }
  void progress() noexcept override;

 private:
  fi_addr_t at(int peer) const noexcept { return peers_[static_cast<std::size_t>(peer)]; }
  int choose(const char* provider, std::uint64_t more) noexcept;
  int make() noexcept;
  status started(ssize_t code) const noexcept;
  void report_failure() noexcept;

  const libfabric& lib_;
  fi_info* info_ = nullptr;
  owned<fid_fabric> fabric_;
  owned<fid_domain> domain_;
  owned<fid_av> av_;
  owned<fid_cq> cq_;
  owned<fid_ep> ep_;
  address own_{};
  std::vector<fi_addr_t> peers_;
  std::uint64_t next_key_ = 1;
};

int endpoint::choose(const char* provider, std::uint64_t more) noexcept {
  fi_info* hints = lib_.dupinfo(nullptr);
  if (!hints) return -FI_ENOMEM;
  hints->caps = FI_MSG | FI_RMA | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE | more;
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->ep_attr->type = FI_EP_RDM;
  hints->domain_attr->mr_mode = registration_modes;
  hints->domain_attr->threading = FI_THREAD_DOMAIN;  // all calls are made under the progress lock
  hints->tx_attr->op_flags = FI_DELIVERY_COMPLETE;   // a completed write is in the peer's memory
  if (std::string_view(provider) != "auto") hints->fabric_attr->prov_name = ::strdup(provider);
  const int code = lib_.getinfo(FI_VERSION(1, 17), nullptr, nullptr, 0, hints, &info_);
  lib_.freeinfo(hints);
  return code;
}

int endpoint::make() noexcept {
  fid_fabric* network = nullptr;
  if (const int e = lib_.fabric(info_->fabric_attr, &network, nullptr)) return e;
  fabric_.reset(network);
  fid_domain* domain = nullptr;
  if (const int e = ::fi_domain(network, info_, &domain, nullptr)) return e;
  domain_.reset(domain);
  fi_av_attr av_attr{};
  fid_av* av = nullptr;
  if (const int e = ::fi_av_open(domain, &av_attr, &av, nullptr)) return e;
  av_.reset(av);
  fi_cq_attr cq_attr{};
  cq_attr.format = FI_CQ_FORMAT_CONTEXT;
  fid_cq* cq = nullptr;
  if (const int e = ::fi_cq_open(domain, &cq_attr, &cq, nullptr)) return e;
  cq_.reset(cq);
  fid_ep* ep = nullptr;
  if (const int e = ::fi_endpoint(domain, info_, &ep, nullptr)) return e;
  ep_.reset(ep);
  if (const int e = ::fi_ep_bind(ep, &av->fid, 0)) return e;
  if (const int e = ::fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV)) return e;
  if (const int e = ::fi_enable(ep)) return e;
  std::size_t bytes = own_.name.size();
  if (const int e = ::fi_getname(&ep->fid, own_.name.data(), &bytes)) return e;
  own_.bytes = static_cast<std::uint32_t>(bytes);
  return 0;
}

status endpoint::start(const char* provider) noexcept {
  int code = choose(provider, FI_HMEM);
  if (code != 0) code = choose(provider, 0);
  if (code == 0) code = make();
  if (code != 0) {
    TELPHER_WARN("TELPHER_RDMA=%s: %s; going on without RDMA", provider, lib_.strerror(-code));
    return status::not_supported;
  }
  TELPHER_INFO("RDMA through libfabric's %s%s", info_->fabric_attr->prov_name,
               (info_->caps & FI_HMEM) ? ", which takes device memory" : "");
  return status::ok;
}

status endpoint::connect(const std::vector<address>& peers) noexcept {
  peers_.assign(peers.size(), FI_ADDR_NOTAVAIL);
  for (std::size_t i = 0; i < peers.size(); ++i)
    if (peers[i].bytes > 0 &&
        ::fi_av_insert(av_.get(), peers[i].name.data(), 1, &peers_[i], 0, nullptr) != 1)
      peers_[i] = FI_ADDR_NOTAVAIL;
  return status::ok;
}

result<std::unique_ptr<registration>> endpoint::enrol(void* begin, std::size_t bytes,
                                                      device::vendor owner, int device) noexcept {
  const iovec piece{begin, bytes};
  fi_mr_attr attr{};
  attr.mr_iov = &piece;
  attr.iov_count = 1;
  attr.access = FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
  attr.requested_key = next_key_++;
  attr.iface = interface_of(owner);
  if (attr.iface == FI_HMEM_CUDA) attr.device.cuda = device;
  fid_mr* mr = nullptr;
  int code = ::fi_mr_regattr(domain_.get(), &attr, 0, &mr);
  owned<fid_mr> held(mr);
  if (code == 0 && (info_->domain_attr->mr_mode & FI_MR_ENDPOINT)) {
    code = ::fi_mr_bind(mr, &ep_->fid, 0);
    if (code == 0) code = ::fi_mr_enable(mr);
  }
  if (code != 0) {
    TELPHER_DEBUG("registration of %zu bytes: %s", bytes, lib_.strerror(-code));
    return status::not_supported;
  }
  const bool by_address = (info_->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0;
  return std::unique_ptr<registration>(
      new enrolled(std::move(held), static_cast<std::byte*>(begin), by_address));
}

status endpoint::started(ssize_t code) const noexcept {
  if (code == 0) return status::ok;
  if (code == -FI_EAGAIN) return status::would_block;
  TELPHER_ERROR("libfabric: %s", lib_.strerror(static_cast<int>(-code)));
  return status::peer_lost;
}

void endpoint::report_failure() noexcept {
  fi_cq_err_entry e{};
  if (::fi_cq_readerr(cq_.get(), &e, 0) != 1) return;
  TELPHER_ERROR("libfabric: an RDMA operation failed: %s", lib_.strerror(e.err));
  if (!e.op_context) return;
  auto* mark = static_cast<transfer_mark*>(e.op_context);
  mark->outcome = status::peer_lost;
  mark->done = true;
}

void endpoint::progress() noexcept {
  fi_cq_entry entries[16];
  const ssize_t n = ::fi_cq_read(cq_.get(), entries, std::size(entries));
  if (n == -FI_EAVAIL) return report_failure();
  for (ssize_t i = 0; i < n; ++i)
    if (entries[i].op_context) static_cast<transfer_mark*>(entries[i].op_context)->done = true;
}

}  // namespace

result<std::unique_ptr<fabric>> fabric::open(const char* provider) noexcept {
  auto lib = libfabric::instance();
  TELPHER_TRY(lib);
  auto e = std::make_unique<endpoint>(**lib);
  TELPHER_TRY(e->start(provider));
  return std::unique_ptr<fabric>(std::move(e));
}

}  // namespace telpher::net
