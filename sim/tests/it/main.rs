mod diagnosis;
