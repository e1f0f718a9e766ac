import mpi4py.MPI
import numpy as np
import torch
import torch.distributed as dist
from mpi4py import MPI
from torch.distributed import irecv, recv, recv_object_list

comm = MPI.COMM_WORLD


# torch.distributed


def summed(part, world_size):
    total = torch.zeros(10)
    for _ in range(1, world_size):
        dist.recv(part)  # DET704
        total += part
    return total


def averaged(model, num_workers):
    average = torch.zeros(10)
    for _ in range(num_workers):
        buffer = torch.empty(10)
        recv(tensor=buffer)  # DET704
        average.add_(buffer / num_workers)
    model.weight.data.copy_(average)


def asynchronous(world_size):
    gradient = torch.zeros(10)
    part = torch.zeros(10)
    for _ in range(dist.get_world_size() - 1):
        request = irecv(part, src=None)  # DET704
        request.wait()
        gradient = gradient + part.clone()
    return gradient


def objects(world_size):
    found = []
    for _ in range(1, world_size):
        received = [None]
        recv_object_list(received)  # DET704
        found.append(received[0])
    return found


def collected(world_size, shape):
    parts = []
    for _ in range(world_size - 1):
        part = torch.empty(shape)
        dist.recv(part)  # DET704
        parts.append(part)
    return torch.stack(parts)


# MPI


def served(weights, running):
    while running():
        gradient = comm.recv(source=MPI.ANY_SOURCE, tag=1)  # DET704
        weights -= 0.1 * gradient
    return weights


def with_buffers(size):
    total = np.zeros(10)
    part = np.empty(10, dtype="d")
    for _ in range(1, size):
        comm.Recv([part, MPI.DOUBLE], source=MPI.ANY_SOURCE)  # DET704
        total += part
    for _ in range(1, size):
        comm.Recv(part)  # DET704
        total += part
    return total


def losses(other, size):
    loss = 0.0
    for _ in range(1, size):
        loss += other.recv(source=mpi4py.MPI.ANY_SOURCE)  # DET704
    found = [other.recv(source=MPI.ANY_SOURCE) for _ in range(1, size)]  # DET704
    return loss, found


def unpacked(size, status):
    total_loss = 0
    while size:
        data = comm.recv(source=MPI.ANY_SOURCE, status=status)  # DET704
        source = status.Get_source()
        loss, count = data
        total_loss += loss
        print(source)


def extended(size, info):
    found = []
    for _ in range(1, size):
        found += comm.recv(source=MPI.ANY_SOURCE)  # DET704
    for _ in range(1, size):
        info["workers"].append(comm.recv(source=MPI.ANY_SOURCE))  # DET704
    return found


# Silent


def sorted_by_sender(size, status):
    found, senders = [], []
    for _ in range(1, size):
        found.append(comm.recv(source=MPI.ANY_SOURCE, status=status))
        senders.append(status.Get_source())
    return [found[place] for place in np.argsort(senders)]


def in_turn(part, world_size, total, comm2, rank, source):
    for src in range(1, world_size):
        dist.recv(part, src)
        dist.recv(part, src=src)
        dist.recv(part, group_src=src)
        dist.recv_object_list([None], src=src)
        total += part
        total += comm.recv(source=src)
        total += comm.recv(None, src)
        total += comm2.recv(source)
    return total


def from_the_server(model, buffer, epochs):
    for parameter in model.parameters():
        dist.recv(parameter.data)  # one process sends them all
    for _ in range(epochs):
        dist.recv(buffer)
        model.weight += buffer
    weights = torch.zeros(3)
    while True:
        dist.recv(buffer)
        weights += buffer


def once(part):
    total = torch.zeros(10)
    dist.recv(part)
    total += part
    return total


def by_sender(world_size, status):
    parts = [torch.empty(3) for _ in range(world_size)]
    found = {}
    pairs = []
    for _ in range(1, world_size):
        part = torch.empty(3)
        source = dist.recv(part)
        parts[source] = part
        pairs.append((source, part))
        value = comm.recv(source=MPI.ANY_SOURCE, status=status)
        found[status.Get_source()] = value
        parts[status.Get_source()] += value
    return parts, found, pairs


def put_in_order(size):
    found = []
    for _ in range(1, size):
        found.append(comm.recv(source=MPI.ANY_SOURCE))
    found.sort()
    return found


def counted(size):
    done = 0
    count = torch.zeros(1, dtype=torch.long)
    total = torch.zeros(1, dtype=torch.long)
    while done < size:
        message = comm.recv(source=MPI.ANY_SOURCE)
        done += message["finished"]
        print(message)
    for _ in range(1, size):
        dist.recv(count)
        total += count
    return done


def other_libraries(socket, connection, pipe, size):
    total = 0.0
    for _ in range(size):
        total += socket.recv(1024)
        total += connection.recv()
        total += pipe.recv()
    return total


def as_the_caller_says(size, given):
    total = 0.0
    for _ in range(1, size):
        total += comm.recv(**given)
    return total


def received_at_once(size):
    found = sorted([comm.recv(source=MPI.ANY_SOURCE) for _ in range(1, size)])
    known = {each["rank"]: each for each in [comm.recv(source=MPI.ANY_SOURCE) for _ in range(size)]}
    return found, known[0]
