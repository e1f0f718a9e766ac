"""What rules ask about code: how values flow, what an order reaches, who seeds a generator."""
