"""What words tell without a model: sentences, exact values, rules that bind, and what they are about."""
